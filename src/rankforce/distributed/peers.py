"""Members of a training that exchange integers over sockets.

Sums and maxima of short arrays go by recursive doubling: in each of log₂ W rounds, pairs of members exchange all they
have. Long ones go by recursive halving and doubling (Rabenseifner 2004): each round exchanges half as much, until each
member has the sum of its part, which then goes the way back. Members beyond the largest power of two hand their array
to another one first, and are told the result in the end. All are integers: the order of additions does not matter.

Every exchange begins with a header that says what is wanted. A member that took another branch is named at once:
nobody adds what was not meant to be added.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankforce.distributed.connections import Address, Exchange, Listener, Secrecy, connect
from rankforce.errors import PeerLostError, RankforceError

SHORT = 32 * 1024  # bytes up to which all are exchanged in every round
_HEADER = struct.Struct("!QIIQ")  # number of the call, operation, round, elements
ADD, HIGHEST, GATHER, SIZES, SCATTER, ROWS = range(6)
_WORDS = {
    ADD: "a sum", HIGHEST: "a maximum", GATHER: "pieces", SIZES: "sizes", SCATTER: "parts of a sum", ROWS: "rows",
}  # fmt: skip
_COMBINE: dict[int, Callable[..., Any]] = {ADD: np.add, SIZES: np.add, HIGHEST: np.maximum}


class DisagreementError(RankforceError):
    """Two members of a training want different things of each other: a bug, or different versions."""


class Peers:
    """A collective over sockets: see ``rankforce.collective.Collective``.

    Parameters
    ----------
    listener : Listener
        This member's own.
    addresses : sequence of Address
        Of all members, by rank, this one included.
    rank : int
    run : bytes (16,)
        A name that no other training has.
    timeout : float
        Seconds until everybody must have connected.
    silence : float
        Seconds after which a member that sends nothing is lost.
    secrecy : Secrecy, optional
        TLS.

    ``calls`` and ``bytes_sent`` count what went over the wire.
    """

    def __init__(
        self,
        listener: Listener,
        addresses: Sequence[Address],
        rank: int,
        run: bytes,
        *,
        timeout: float = 60.0,
        silence: float = 300.0,
        secrecy: Secrecy | None = None,
    ) -> None:
        self.rank, self.size = rank, len(addresses)
        self._addresses = tuple(addresses)
        self._connections = connect(listener, addresses, rank, run, timeout=timeout, secrecy=secrecy)
        self._exchange = Exchange(self._connections, self._addresses, rank, silence)
        self._power = 1 << (self.size.bit_length() - 1)  # members that take part in doubling
        self._arrived = np.empty(0, dtype=np.int64)
        self.calls = 0
        self.bytes_sent = 0

    def close(self) -> None:
        """Hang up: members that wait for this one lose it."""
        for connection in self._connections.values():
            connection.close()

    def add(self, values: np.ndarray) -> np.ndarray:
        """The sum of everybody's int64 arrays."""
        return self._reduce(ADD, values)

    def scatter_add(self, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The part of everybody's sum from ``edges[rank]`` on; ``values`` (int64) are overwritten."""
        _check_dtype(values)
        self._guarded(self._scatter, values, [int(edge) for edge in edges])
        return values[edges[self.rank] : edges[self.rank + 1]]

    def all_to_all(self, values: np.ndarray, edges: np.ndarray, came: np.ndarray, places: np.ndarray) -> None:
        """Give everybody a part of uint32 ``values``, and have everybody's in ``came``: straight from each to each."""
        self._guarded(self._deal, values, edges.tolist(), came, places.tolist())

    def highest(self, values: np.ndarray) -> np.ndarray:
        """The maximum of everybody's int64 arrays."""
        return self._reduce(HIGHEST, values)

    def gather(self, content: bytes) -> list[bytes]:
        """What everybody gave, by rank: around a ring, each piece W − 1 times."""
        sizes = np.zeros(self.size, dtype=np.int64)
        sizes[self.rank] = len(content)
        sizes = self._reduce(SIZES, sizes)
        pieces: list[Any] = [bytearray(size) for size in sizes.tolist()]
        pieces[self.rank][:] = content
        self._guarded(self._pass_around, pieces)
        return [bytes(piece) for piece in pieces]

    def _pass_around(self, pieces: list[Any]) -> None:
        self.calls += 1
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for step in range(self.size - 1):
            mine, theirs = (self.rank - step) % self.size, (self.rank - step - 1) % self.size
            self._swap(GATHER, step, after, memoryview(pieces[mine]), before, memoryview(pieces[theirs]))

    def _deal(self, values: np.ndarray, edges: list[int], came: np.ndarray, places: list[int]) -> None:
        self.calls += 1
        parts = [values[first:last] for first, last in itertools.pairwise(edges)]
        rooms = [came[first:last] for first, last in itertools.pairwise(places)]
        rooms[self.rank][:] = parts[self.rank]
        for step in range(1, self.size):
            to, source = (self.rank + step) % self.size, (self.rank - step) % self.size
            self._swap(ROWS, step, to, _view(parts[to]), source, _view(rooms[source]))

    # --------------------------------------------------------------------------------------------------- sums, maxima

    def _reduce(self, operation: int, values: np.ndarray) -> np.ndarray:
        _check_dtype(values)
        result = np.array(values, dtype=np.int64, order="C")
        self._guarded(self._reduce_all, operation, result.reshape(-1))
        return result

    def _reduce_all(self, operation: int, own: np.ndarray) -> None:
        self.calls += 1
        other = np.empty_like(own)
        beyond = self.rank >= self._power
        partner = self.rank - self._power if beyond else self.rank + self._power
        folded = beyond or partner < self.size
        if folded:  # the others' arrays come first
            self._one_way(operation, 0, partner, own if beyond else None, None if beyond else other)
            if not beyond:
                _COMBINE[operation](own, other, out=own)
        if not beyond:
            if own.nbytes <= SHORT:
                self._double(operation, own, other)
            else:
                self._halve_and_double(operation, own, other)
        if folded:
            self._one_way(operation, 1, partner, None if beyond else own, own if beyond else None)

    def _double(self, operation: int, own: np.ndarray, other: np.ndarray) -> None:
        step, number = 1, 2
        while step < self._power:
            partner = self.rank ^ step
            self._swap(operation, number, partner, _view(own), partner, _view(other))
            _COMBINE[operation](own, other, out=own)
            step, number = step * 2, number + 1

    def _halve_and_double(self, operation: int, own: np.ndarray, other: np.ndarray) -> None:
        """Each round keeps the half that a bit of the rank says; then halves come together again."""
        first, last = 0, len(own)
        step, halves = self._power // 2, []
        for number in itertools.count(2):
            if step == 0:
                break
            partner, middle = self.rank ^ step, (first + last) // 2
            lower = self.rank & step == 0
            kept, given = (slice(first, middle), slice(middle, last))[:: 1 if lower else -1]
            self._swap(operation, number, partner, _view(own[given]), partner, _view(other[kept]))
            _COMBINE[operation](own[kept], other[kept], out=own[kept])
            halves.append((partner, kept, given))
            first, last, step = kept.start, kept.stop, step // 2
        for number, (partner, kept, given) in enumerate(reversed(halves), start=32):
            self._swap(operation, number, partner, _view(own[kept]), partner, _view(own[given]))

    def _scatter(self, own: np.ndarray, edges: list[int]) -> None:
        """Halve until the own part is left; whoever is beyond the power of two hands in first, and is sent its part."""
        self.calls += 1
        power, beyond = self._power, self.rank >= self._power
        partner = self.rank - power if beyond else self.rank + power
        folded = beyond or partner < self.size
        if folded:
            whole = None if beyond else self._room(len(own))
            self._one_way(SCATTER, 0, partner, own if beyond else None, whole)
            if whole is not None:
                own += whole
        first, last, step = 0, power, 0 if beyond else power // 2

        def parts(begin: int, end: int) -> list[np.ndarray]:
            """Those of members begin to end, and of those beyond that they stand for."""
            places = [begin, end, min(begin + power, self.size), min(end + power, self.size)]
            return [own[edges[a] : edges[b]] for a, b in (places[:2], places[2:])]

        for number in itertools.count(2):
            if step == 0:
                break
            middle = (first + last) // 2
            kept, given = ((first, middle), (middle, last))[:: 1 if self.rank & step == 0 else -1]
            outgoing, sums = parts(*given), parts(*kept)
            incoming = self._room(sum(map(len, sums)))
            out = np.concatenate(outgoing) if len(outgoing[1]) else outgoing[0]
            self._swap(SCATTER, number, self.rank ^ step, _view(out), self.rank ^ step, _view(incoming))
            sums[0] += incoming[: len(sums[0])]
            sums[1] += incoming[len(sums[0]) :]
            first, last, step = *kept, step // 2
        if folded:
            theirs = own[edges[max(self.rank, partner)] : edges[max(self.rank, partner) + 1]]
            self._one_way(SCATTER, 1, partner, None if beyond else theirs, theirs if beyond else None)

    def _room(self, size: int) -> np.ndarray:
        """Where what arrives is put, until it is added: memory that is asked for anew would be cleared first."""
        if len(self._arrived) < size:
            self._arrived = np.empty(size, dtype=np.int64)
        return self._arrived[:size]

    # ------------------------------------------------------------------------------------------------------- messages

    def _swap(
        self, operation: int, number: int, to: int, outgoing: memoryview, source: int, incoming: memoryview
    ) -> None:
        mine = _HEADER.pack(self.calls, operation, number, len(outgoing))
        wanted = _HEADER.pack(self.calls, operation, number, len(incoming))
        self._send(to, mine, outgoing, source, wanted, incoming)

    def _one_way(
        self, operation: int, number: int, partner: int, out: np.ndarray | None, into: np.ndarray | None
    ) -> None:
        """An array from one of two members to the other; both tell what they want."""
        array = out if out is not None else into
        assert array is not None
        mine = _HEADER.pack(self.calls, operation, number, array.nbytes)
        nothing = memoryview(bytearray())
        outgoing, incoming = (nothing if one is None else _view(one) for one in (out, into))
        self._send(partner, mine, outgoing, partner, mine, incoming)

    def _send(
        self, to: int, mine: bytes, outgoing: memoryview, source: int, wanted: bytes, incoming: memoryview
    ) -> None:
        self._exchange(to, memoryview(mine), outgoing, source, incoming, lambda came: self._check(came, wanted, source))
        self.bytes_sent += len(mine) + len(outgoing)

    def _check(self, found: bytes, wanted: bytes, other: int) -> None:
        if found == wanted:
            return
        theirs, ours = _HEADER.unpack(found), _HEADER.unpack(wanted)
        raise DisagreementError(
            f"member {other} ({self._addresses[other]}) wants {_in_words(theirs)}, member {self.rank} wants "
            f"{_in_words(ours)}: is the same version installed everywhere?"
        )

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except (PeerLostError, DisagreementError):
            self.close()  # nobody may wait for a member that has given up
            raise


def _check_dtype(values: np.ndarray) -> None:
    if values.dtype != np.int64:
        raise TypeError(f"members exchange int64 arrays, not {values.dtype}")


def _view(array: np.ndarray) -> memoryview:
    return array.data.cast("B") if array.size else memoryview(bytearray())


def _in_words(header: tuple[int, ...]) -> str:
    call, operation, number, length = header
    return f"{_WORDS.get(operation, 'something unknown')} of {length:,} bytes (call {call}, round {number})"
