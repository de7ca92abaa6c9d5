"""Ask an ASGI application without a network: what a server would hand it, and what it sends back."""

from __future__ import annotations

import asyncio
import dataclasses
import json


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


async def ask(app, method, path, body=b"", headers=None, parts=None, pause=0.0):
    """One request. ``parts`` sends the body in several, ``pause`` seconds before each of them."""
    path, _, query = path.partition("?")
    pieces = [body] if parts is None else list(parts)
    given = {"host": "localhost:8000", **(headers or {})}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "query_string": query.encode(), "root_path": "", "scheme": "http",
        "client": ("127.0.0.1", 1), "server": ("localhost", 8000),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()],
    }  # fmt: skip
    sent = []
    waiting = asyncio.Event()

    async def receive():
        if pieces:
            await asyncio.sleep(pause)
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}
        return await waiting.wait()  # the client stays

    async def send(message):
        sent.append(message)

    try:
        await app(scope, receive, send)
    except Exception:
        if not sent:  # a defect is answered, then raised for the server's log
            raise
    start = sent[0]
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Reply(start["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))


class Client:
    """A service in this process. Warm from the beginning unless told otherwise."""

    def __init__(self, app, service):
        self.app = app
        self.service = service

    def ask(self, method, path, body=b"", headers=None, **options):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        headers = {"content-type": "application/json", **(headers or {})} if method == "POST" else headers
        return asyncio.run(ask(self.app, method, path, body, headers, **options))

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body, **options):
        return self.ask("POST", path, body, **options)

    def metric(self, name, **labels):
        return self.service.metrics.registry.get_sample_value(name, labels)
