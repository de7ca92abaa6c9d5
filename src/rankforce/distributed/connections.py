"""Connections between the members of a training: plain sockets, or TLS over them.

A member listens before anybody connects, and keeps its socket: an address that was told stays its own. Each pair of
members has one connection, made by the higher rank: within one machine and without TLS a Unix socket, which takes half
as long. Whoever else connects (a port scanner, a member of another training) does not know the name of the run and is
turned away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import selectors
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from rankforce.errors import PeerLostError

_HELLO = struct.Struct("!16si")  # the run, the rank
RUN_SIZE = 16  # bytes of a run's name
ATTEMPT = 5.0  # seconds after which a member is called again
LOST_HOST = 30  # seconds after which a host that acknowledges nothing is lost
CHUNK = 2**20  # bytes handed to TLS at a time
NEAR_BUFFER = 2**22  # bytes that may wait between two members of a machine, if the system allows so many
CAN_BE_NEAR = sys.platform == "linux"
_CREDENTIALS = struct.Struct("iII")  # process, user, group
# ``poll`` makes no file of its own, and knows descriptors beyond 1,023, which ``select`` does not.
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.DefaultSelector)


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
    """A socket on which a member waits for others; ``port`` 0 takes any that is free.

    ``near`` is another one for members of the same machine, where there can be one: less is done to what goes through
    it. Its name follows from the address, so that nobody has to be told.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.create_server((host, port), family=family, backlog=128, reuse_port=False)
        self.address = Address((host, int(self.socket.getsockname()[1])))
        self.near = _listen_near(self.address)

    @property
    def closed(self) -> bool:
        return self.socket.fileno() < 0

    def close(self) -> None:
        """Also wakes the thread that waits here for a member to call."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        if self.near is not None:
            self.near.close()


def _near_name(address: Address) -> str:
    """The name of a socket for the same machine: no file, and only seen where the address itself is."""
    return f"\0rankforce {address}"


def _listen_near(address: Address) -> socket.socket | None:
    if not CAN_BE_NEAR:
        return None
    near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        near.bind(_near_name(address))
        near.listen(128)
    except OSError:  # somebody has the name: members of this machine come as all others do
        near.close()
        return None
    return near


def _call_near(address: Address) -> socket.socket | None:
    """A connection to a member of the same machine and user; None if it is elsewhere."""
    if not CAN_BE_NEAR:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(_near_name(address))
        if _is_own_user(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _is_own_user(connection: socket.socket) -> bool:
    """Whether the process at the other end is of the same user; another one's has taken the name."""
    _, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return bool(user == os.geteuid())


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
    connection = _call_near(address) if secrecy is None else None
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
    sockets = [listener.socket]
    if listener.near is not None and secrecy is None:
        sockets.append(listener.near)
    try:
        ready = _ready(dict.fromkeys(sockets, selectors.EVENT_READ), max(0.01, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError("nobody called")
        ready[0].settimeout(max(0.01, deadline - time.monotonic()))  # whoever called may be gone again
        connection, _ = ready[0].accept()
    except (OSError, ValueError) as error:  # a value: the listener was closed meanwhile
        raise PeerLostError(f"{missing} of the other members did not connect to {listener.address}") from error
    try:
        if ready[0] is listener.near and not _is_own_user(connection):
            raise OSError("of another user")
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
    if CAN_BE_NEAR and connection.family == socket.AF_UNIX:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, NEAR_BUFFER)
        return
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


def _ready(sockets: Mapping[socket.socket, int], seconds: float) -> list[socket.socket]:
    """Those that can be read from or written to, as is wanted of each, after at most so many seconds."""
    with _Selector() as selector:
        for one, events in sockets.items():
            selector.register(one, events)
        return [key.fileobj for key, _ in selector.select(seconds)]  # type: ignore[misc]


class Exchange:
    """One message out and one in, at the same time, between this member and two others (often the same).

    A message is a header, all of the same length, and what it tells of.
    """

    def __init__(self, connections: dict[int, socket.socket], addresses: Sequence[Address], rank: int, silence: float):
        self._connections = connections
        self._addresses = addresses
        self._rank = rank
        self._silence = silence

    def __call__(
        self,
        to: int,
        header: memoryview,
        outgoing: memoryview,
        source: int,
        incoming: memoryview,
        check: Callable[[bytes], None],
    ) -> None:
        """Send a header and all of ``outgoing`` to one member while another's header and all of ``incoming`` arrive.

        ``check`` is given the header that came, before anything is made of what follows it, and may raise.
        """
        theirs = memoryview(bytearray(len(header)))
        if isinstance(self._connections[to], ssl.SSLSocket):
            self._in_turn(to, header, source, theirs)
            check(bytes(theirs))
            self._in_turn(to, outgoing, source, incoming)
            return
        sender, receiver = self._connections[to], self._connections[source]
        out, into = _Parts(header, outgoing), _Parts(theirs, incoming)
        checked, broken = False, None
        while not (out.done and into.done):
            sent = received = False
            try:
                sent = not out.done and out.move(sender.sendmsg(out.left, (), socket.MSG_DONTWAIT))
            except BlockingIOError:
                pass
            except OSError as error:  # it may have said why
                broken = error
            try:
                if not into.done:
                    count = receiver.recvmsg_into(into.left, 0, socket.MSG_DONTWAIT)[0]
                    if count == 0:
                        raise PeerLostError(f"{self._named(source)} is gone")
                    received = into.move(count)
            except BlockingIOError:
                pass
            except OSError as error:
                raise PeerLostError(f"{self._named(source)} is gone: {error}") from error
            if not checked and into.begun:
                check(bytes(theirs))
                checked = True
            if broken is not None and not received:
                raise PeerLostError(f"{self._named(to)} is gone: {broken}") from broken
            if not sent and not received:
                self._wait(None if out.done else sender, None if into.done else receiver, to, source)

    def _wait(self, sender: socket.socket | None, receiver: socket.socket | None, to: int, source: int) -> None:
        wanted = {} if receiver is None else {receiver: selectors.EVENT_READ}
        if sender is not None:
            wanted[sender] = wanted.get(sender, 0) | selectors.EVENT_WRITE
        if not _ready(wanted, self._silence):
            raise self._silent(to if receiver is None else source)

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


class _Parts:
    """A header and what follows it, on their way."""

    def __init__(self, header: memoryview, content: memoryview) -> None:
        self.left = [header, content]
        self.begun = False  # all of the header is through
        self.done = False

    def move(self, count: int) -> bool:
        """So many bytes went; True."""
        if not self.begun:
            header, content = self.left
            if count < len(header):
                self.left = [header[count:], content]
                return True
            self.begun = True
            count -= len(header)
            self.left = [content]
        self.left = [self.left[0][count:]]
        self.done = len(self.left[0]) == 0
        return True
