"""The body of a request, read no further than allowed."""

from __future__ import annotations

import asyncio

from fastapi import Request

from rankforce.serving.limits import ServingLimits
from rankforce.serving.refusals import RequestRefusal


async def read_body(request: Request, limits: ServingLimits) -> bytes:
    """The whole body. One that is too long is refused by its announcement, or as soon as it is too long."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limits.body_bytes:
        raise _too_long(limits)
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.body_bytes:
                    raise _too_long(limits)
                parts.append(part)
    except TimeoutError:
        message = f"the body has not arrived within {limits.seconds:g} s"
        raise RequestRefusal(408, "slow-body", message, headers={"Connection": "close"}) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_long(limits: ServingLimits) -> RequestRefusal:
    message = f"the body has more than {limits.body_bytes:,} bytes: send fewer documents at once"
    return RequestRefusal(
        413, "body-too-large", message, headers={"Connection": "close"}, limit=limits.body_bytes
    )  # what is still coming is not read
