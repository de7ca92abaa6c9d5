"""Who may ask: a bearer token, and without one this machine alone."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rankforce.displayed_text import displayed, displayed_path
from rankforce.errors import SettingsError
from rankforce.remedies import Argument
from rankforce.serving.refusals import RequestRefusal

TOKEN_VARIABLE: Final = "RANKFORCE_TOKEN"
_SHORTEST_TOKEN: Final = 16
_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


def read_token(file: Path | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The token that requests must bring: the content of a file, or of RANKFORCE_TOKEN; None without either.

    Never an argument of a command: every user of a machine can read those.
    """
    if file is None:
        token, source = environment.get(TOKEN_VARIABLE), TOKEN_VARIABLE
        if token is None:
            return None
    else:
        source = displayed_path(file)
        try:
            token = file.read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not ASCII"
            raise SettingsError(f"{source}: the token cannot be read: {reason}") from None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            f"{source}: a token is at least {_SHORTEST_TOKEN} visible ASCII characters without spaces; "
            "'openssl rand -hex 32' makes one"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(host: str, token: str | None, allow_without_token: bool) -> None:
    """Raise if other machines could ask and nothing would ask them who they are."""
    if token is None and not allow_without_token and not is_loopback(host):
        raise SettingsError(
            f"{displayed(host)} can be reached by other machines, and there is no token: give one with ",
            Argument("token_file"),
            f" or the variable {TOKEN_VARIABLE}; or say that something else keeps strangers out with ",
            Argument("allow_without_token", True),
        )


@dataclasses.dataclass(frozen=True)
class AccessRule:
    """Whether a request may be answered.

    token_digest : SHA-256 of the token, or None
    local_only : without a token, refuse requests to another host name: a page in a browser can give its own name this
        machine's address, and would then be allowed to ask
    """

    token_digest: bytes | None
    local_only: bool

    @classmethod
    def of(cls, token: str | None, allow_without_token: bool) -> AccessRule:
        digest = None if token is None else hashlib.sha256(token.encode()).digest()
        return cls(digest, local_only=token is None and not allow_without_token)

    def allows(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the token is the right one, or none is asked for. Takes as long for any wrong one."""
        if self.token_digest is None:
            return True
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        given = hashlib.sha256(token.strip()).digest()
        return hmac.compare_digest(given, self.token_digest) and scheme.lower() == b"bearer"

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise unless the request may be answered."""
        if not self.allows(headers):
            raise RequestRefusal(
                401, "unauthorised", "a token is needed: send 'Authorization: Bearer TOKEN'",
                headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip

    def check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise if the request was meant for another host."""
        if not self.local_only:
            return
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
        if name not in _LOCAL_NAMES and not _is_loopback_name(name):
            raise RequestRefusal(421, "wrong-host", "without a token, only this machine is answered, as localhost")


def _is_loopback_name(name: str) -> bool:
    return is_loopback(name.strip("[]"))
