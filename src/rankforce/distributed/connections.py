"""Connections between the members of a training: plain sockets, or TLS over them.

A member listens before anybody connects, and keeps its socket: an address that was told stays its own. Each pair of
members has one connection, made by the higher rank. Whoever else connects (a port scanner, a member of another
training) does not know the name of the run and is turned away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import select
import socket
import ssl
import struct
import time
from collections.abc import Sequence

from rankforce.errors import PeerLostError

_HELLO = struct.Struct("!16si")  # the run, the rank
RUN_SIZE = 16  # bytes of a run's name
ATTEMPT = 5.0  # seconds after which a member is called again
LOST_HOST = 30  # seconds after which a host that acknowledges nothing is lost
CHUNK = 2**20  # bytes handed to TLS at a time


class Address(tuple[str, int]):
    """Where a member listens: (host, port)."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self[0]}:{self[1]}"


@dataclasses.dataclass(frozen=True)
class Secrecy:
    """What TLS needs: a context for the side that is connected to, and one for the side that connects."""

    server: ssl.SSLContext
    client: ssl.SSLContext


class Listener:
    """A socket on which a member waits for others; ``port`` 0 takes any that is free."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.create_server((host, port), family=family, backlog=128, reuse_port=False)
        self.address = Address((host, int(self.socket.getsockname()[1])))

    @property
    def closed(self) -> bool:
        return self.socket.fileno() < 0

    def close(self) -> None:
        """Also wakes the thread that waits here for a member to call."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def connect(
    listener: Listener,
    addresses: Sequence[Address],
    rank: int,
    run: bytes,
    *,
    timeout: float,
    secrecy: Secrecy | None = None,
) -> dict[int, socket.socket]:
    """A connection to every other member, by rank: to lower ranks by calling them, from higher ones by waiting."""
    deadline = time.monotonic() + timeout
    made: dict[int, socket.socket] = {}
    try:
        for other in range(rank):
            made[other] = _call(listener, addresses[other], rank, run, deadline, secrecy)
        while len(made) < len(addresses) - 1:
            accepted = _answer(listener, run, deadline, secrecy, len(addresses) - 1 - len(made))
            if accepted is not None:
                other, connection = accepted
                if not rank < other < len(addresses) or other in made:
                    connection.close()
                    continue
                made[other] = connection
    except BaseException:
        for connection in made.values():
            connection.close()
        raise
    for connection in made.values():
        _tune(connection)
    return made


def _call(
    listener: Listener, address: Address, rank: int, run: bytes, deadline: float, secrecy: Secrecy | None
) -> socket.socket:
    """Refused means gone: a member listens before its address is told. Who is called off itself stops calling."""
    connection: socket.socket | None = None
    while connection is None:
        try:
            connection = socket.create_connection(address, timeout=min(ATTEMPT, max(0.1, deadline - time.monotonic())))
        except OSError as error:
            if isinstance(error, ConnectionRefusedError) or time.monotonic() > deadline or listener.closed:
                raise PeerLostError(f"nobody answers at {address}: {error}") from error
            time.sleep(0.05)
    try:
        connection.settimeout(max(0.1, deadline - time.monotonic()))  # TLS waits until it is answered
        if secrecy is not None:
            connection = secrecy.client.wrap_socket(connection, server_hostname=address[0])
        connection.sendall(_HELLO.pack(run, rank))
    except OSError as error:
        connection.close()
        raise PeerLostError(f"{address} does not speak with us: {error}") from error
    return connection


def _answer(
    listener: Listener, run: bytes, deadline: float, secrecy: Secrecy | None, missing: int
) -> tuple[int, socket.socket] | None:
    """The rank of a member that calls, and its connection; None if it was somebody else."""
    try:
        listener.socket.settimeout(max(0.01, deadline - time.monotonic()))
        connection, _ = listener.socket.accept()
    except OSError as error:
        raise PeerLostError(f"{missing} of the other members did not connect to {listener.address}") from error
    try:
        connection.settimeout(min(5.0, max(0.1, deadline - time.monotonic())))
        if secrecy is not None:
            connection = secrecy.server.wrap_socket(connection, server_side=True)
        greeting = b""
        while len(greeting) < _HELLO.size:
            more = connection.recv(_HELLO.size - len(greeting))
            if not more:
                raise OSError("gone")
            greeting += more
        named, rank = _HELLO.unpack(greeting)
        if named != run:
            raise OSError("of another run")
    except OSError:
        connection.close()
        return None
    return rank, connection


def _tune(connection: socket.socket) -> None:
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", LOST_HOST // 3),
        ("TCP_KEEPINTVL", LOST_HOST // 3),
        ("TCP_KEEPCNT", 2),
        ("TCP_USER_TIMEOUT", 1000 * LOST_HOST),
    ):
        if hasattr(socket, option):  # not on every system
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class Exchange:
    """One message out and one in, at the same time, between this member and two others (often the same)."""

    def __init__(self, connections: dict[int, socket.socket], addresses: Sequence[Address], rank: int, silence: float):
        self._connections = connections
        self._addresses = addresses
        self._rank = rank
        self._silence = silence

    def __call__(self, to: int, outgoing: memoryview, source: int, incoming: memoryview) -> None:
        """Send all of ``outgoing`` to one member while all of ``incoming`` arrives from another."""
        sender, receiver = self._connections[to], self._connections[source]
        if isinstance(sender, ssl.SSLSocket):
            self._in_turn(to, outgoing, source, incoming)
            return
        sent = received = 0
        while sent < len(outgoing) or received < len(incoming):
            wants_in = [receiver] if received < len(incoming) else []
            wants_out = [sender] if sent < len(outgoing) else []
            readable, writable, _ = select.select(wants_in, wants_out, [], self._silence)
            if not readable and not writable:
                raise self._silent(source if wants_in else to)
            try:
                if readable:
                    count = receiver.recv_into(incoming[received:], 0, socket.MSG_DONTWAIT)
                    if count == 0:
                        raise PeerLostError(f"{self._named(source)} is gone")
                    received += count
                if writable:
                    sent += sender.send(outgoing[sent:], socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError as error:
                raise PeerLostError(f"{self._named(source if readable else to)} is gone: {error}") from error

    def _in_turn(self, to: int, outgoing: memoryview, source: int, incoming: memoryview) -> None:
        """TLS gives no two directions at once: who has the lower rank of a pair speaks first, chunk by chunk."""
        sent = received = 0
        while sent < len(outgoing) or received < len(incoming):
            out, into = outgoing[sent : sent + CHUNK], incoming[received : received + CHUNK]
            steps = [(True, to, out), (False, source, into)]
            if self._rank > to or (self._rank > source and to != source):
                steps.reverse()
            for sending, other, part in steps:
                self._whole(sending, other, part)
            sent, received = sent + len(out), received + len(into)

    def _whole(self, sending: bool, other: int, part: memoryview) -> None:
        connection = self._connections[other]
        connection.settimeout(self._silence)
        done = 0
        try:
            while done < len(part):
                count = connection.send(part[done:]) if sending else connection.recv_into(part[done:])
                if count == 0:
                    raise PeerLostError(f"{self._named(other)} is gone")
                done += count
        except TimeoutError as error:
            raise self._silent(other) from error
        except OSError as error:
            raise PeerLostError(f"{self._named(other)} is gone: {error}") from error

    def _silent(self, rank: int) -> PeerLostError:
        error = PeerLostError(f"{self._named(rank)} has been silent for {self._silence:g} seconds")
        error.silent = rank
        return error

    def _named(self, rank: int) -> str:
        return f"member {rank} ({self._addresses[rank]})"
