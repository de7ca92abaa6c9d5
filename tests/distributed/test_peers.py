"""Members over sockets find what NumPy finds; whoever is gone, silent or elsewhere is named."""

from __future__ import annotations

import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankforce.collective import exact_total, union, using_collective
from rankforce.distributed import connections
from rankforce.distributed.connections import NEAR_BUFFER, Listener, Secrecy
from rankforce.distributed.peers import _HEADER, SHORT, DisagreementError, Peers
from rankforce.errors import PeerLostError

RUN = b"0123456789abcdef"
SOME = SHORT // 8


def crowd(size, work, *, run=RUN, disturb=None, **options):
    """What ``work(peers)`` returns in each of so many members, or its error."""
    listeners = [Listener() for _ in range(size)]
    addresses = [listener.address for listener in listeners]
    if disturb is not None:
        disturb(addresses)

    def take_part(rank):
        try:
            peers = Peers(listeners[rank], addresses, rank, run, timeout=120, **{"silence": 120, **options})
            try:
                return work(peers)
            finally:
                peers.close()
        except Exception as error:
            return error
        finally:
            listeners[rank].close()

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(take_part, range(size)))


@pytest.mark.parametrize("size", range(1, 10))
def test_sums_maxima_and_pieces(size):
    random = np.random.default_rng(size)
    lengths = [0, 1, 2, 7, SOME - 1, SOME, SOME + 1, 3 * SOME + 5]
    arrays = [random.integers(-(2**40), 2**40, (size, length)) for length in lengths]
    contents = [bytes(random.integers(0, 256, int(count), dtype=np.uint8)) for count in random.integers(0, 9000, size)]

    def work(peers):
        found = [(peers.add(array[peers.rank]), peers.highest(array[peers.rank])) for array in arrays]
        return found, peers.gather(contents[peers.rank]), peers.add(np.ones((2, 3), dtype=np.int64))

    for result in crowd(size, work):
        assert not isinstance(result, Exception), result
        found, gathered, square = result
        for array, (total, top) in zip(arrays, found, strict=True):
            np.testing.assert_array_equal(total, array.sum(axis=0))
            np.testing.assert_array_equal(top, array.max(axis=0))
        assert gathered == contents
        assert square.tolist() == [[size] * 3] * 2


@pytest.mark.parametrize("size", range(1, 10))
def test_parts_of_sums(size):
    """Everybody gets its own part: of uneven lengths, some of nothing."""
    random = np.random.default_rng(size)
    arrays = [random.integers(-(2**40), 2**40, (size, length)) for length in (0, 1, 7, 5 * SOME)]
    edges = [np.sort(np.concatenate([[0, len(array[0])], random.integers(0, len(array[0]) + 1, size - 1)]))
             for array in arrays]  # fmt: skip

    def work(peers):
        before = peers.bytes_sent
        found = [peers.scatter_add(array[peers.rank].copy(), of) for array, of in zip(arrays, edges, strict=True)]
        return found, peers.bytes_sent - before

    for rank, result in enumerate(crowd(size, work)):
        assert not isinstance(result, Exception), result
        for array, of, part in zip(arrays, edges, result[0], strict=True):
            np.testing.assert_array_equal(part, array.sum(axis=0)[of[rank] : of[rank + 1]])


@pytest.mark.parametrize("size", range(1, 8))
def test_parts_from_each_to_each(size):
    """Of uneven lengths, some of nothing, some longer than what fits between two members at once."""
    random = np.random.default_rng(size)
    sizes = random.choice([0, 1, 7, NEAR_BUFFER // 3], (size, size))  # from whom, to whom
    parts = [[random.integers(0, 2**32, count, dtype=np.uint32) for count in row] for row in sizes]

    def work(peers):
        given, taken = sizes[peers.rank], sizes[:, peers.rank]
        came, before = np.zeros(taken.sum(), dtype=np.uint32), peers.bytes_sent
        peers.all_to_all(
            np.concatenate(parts[peers.rank]), np.append(0, given.cumsum()), came, np.append(0, taken.cumsum())
        )
        return came, peers.bytes_sent - before

    for rank, result in enumerate(crowd(size, work)):
        assert not isinstance(result, Exception), result
        np.testing.assert_array_equal(result[0], np.concatenate([row[rank] for row in parts]))
        others = np.delete(sizes[rank], rank)
        assert result[1] == 4 * others.sum() + (size - 1) * _HEADER.size


def test_members_that_expect_another_number_of_rows_are_told():
    def work(peers):
        came, more = np.zeros(5, dtype=np.uint32), peers.rank
        peers.all_to_all(np.zeros(4, dtype=np.uint32), np.array([0, 2, 4]), came, np.array([0, 2 + more, 4 + more]))

    errors = crowd(2, work)
    assert any("wants rows of 8 bytes" in str(error) and "wants rows of 12 bytes" in str(error) for error in errors)


def test_the_given_array_stays_as_it_was():
    def work(peers):
        given = np.arange(5)
        peers.add(given)
        return given.tolist()

    assert crowd(2, work) == [[0, 1, 2, 3, 4]] * 2


def test_slow_members_are_waited_for():
    def work(peers):
        time.sleep(0.2 * peers.rank)
        return peers.add(np.array([peers.rank])).tolist()

    assert crowd(3, work) == [[3]] * 3


@pytest.mark.skipif(not hasattr(select, "poll"), reason="the system has no poll")
def test_descriptors_beyond_what_select_knows():
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most[1] != resource.RLIM_INFINITY and most[1] < 2048:
        pytest.skip("the system allows too few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(2048, most[0]), most[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        for total in crowd(2, lambda peers: (time.sleep(0.05 * peers.rank), peers.add(np.ones(3, dtype=np.int64)))[1]):
            np.testing.assert_array_equal(total, [2, 2, 2])
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, most)


def test_behind_the_seam():
    values = [np.array([0.1, 0.2]), np.array([0.3, 1e17, -1e17])]

    def work(peers):
        with using_collective(peers):
            return exact_total(values[peers.rank]), union(values[peers.rank]).tolist()

    assert crowd(2, work) == [(0.6, [-1e17, 0.1, 0.2, 0.3, 1e17])] * 2


def test_another_branch_is_named():
    def work(peers):
        return peers.highest(np.zeros(2, dtype=np.int64)) if peers.rank == 2 else peers.add(np.zeros(5, dtype=np.int64))

    errors = crowd(4, work)
    assert all(isinstance(error, (DisagreementError, PeerLostError)) for error in errors)
    told = [str(error) for error in errors if isinstance(error, DisagreementError)]
    assert any("member 2" in text and "a maximum of 16 bytes" in text and "a sum of 40 bytes" in text for text in told)


@pytest.mark.parametrize("length", [3, 3 * SOME])
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_member_that_goes_is_lost_by_all(size, length):
    def work(peers):
        peers.add(np.ones(length, dtype=np.int64))
        if peers.rank == size - 1:
            return "gone"
        for _ in range(3):
            peers.add(np.ones(length, dtype=np.int64))
        return "finished"

    started = time.monotonic()
    results = crowd(size, work)
    assert results[-1] == "gone"
    assert all(isinstance(result, PeerLostError) for result in results[:-1])
    assert time.monotonic() - started < 60


def test_a_silent_member_is_named():
    held = threading.Event()

    def work(peers):
        if peers.rank == 1:
            held.wait(5)
            return "silent"
        try:
            return peers.add(np.ones(3, dtype=np.int64))
        finally:
            held.set()

    lost, silent = crowd(2, work, silence=0.3)
    assert silent == "silent"
    assert isinstance(lost, PeerLostError)
    assert "member 1 (127.0.0.1:" in str(lost)
    assert "silent for 0.3 seconds" in str(lost)


def test_strangers_are_turned_away():
    strangers = []

    def disturb(addresses):
        for address in addresses:
            for greeting in (b"", b"GET / HTTP/1.1\r\n\r\n          ", b"f" * 16 + b"\0\0\0\1"):
                stranger = socket.create_connection(address)
                stranger.sendall(greeting)
                if not greeting:
                    stranger.close()
                strangers.append(stranger)

    assert crowd(3, lambda peers: peers.add(np.ones(1, dtype=np.int64)).tolist(), disturb=disturb) == [[3]] * 3
    for stranger in strangers:
        stranger.close()


def test_nobody_answers():
    listener, empty = Listener(), Listener()
    empty.close()
    with pytest.raises(PeerLostError, match="nobody answers at 127"):
        Peers(listener, [empty.address, listener.address], 1, RUN, timeout=0.3)
    with pytest.raises(PeerLostError, match="1 of the other members did not connect"):
        Peers(listener, [listener.address, empty.address], 0, RUN, timeout=0.3)
    listener.close()


def test_only_whole_numbers():
    errors = crowd(1, lambda peers: peers.add(np.ones(3)))
    assert "int64" in str(errors[0])


@pytest.fixture(scope="module")
def secrecy(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=member", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )  # fmt: skip
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cafile=certificate)
    return Secrecy(server, client)


def from_all(peers):
    """Everybody's ranks, each often: more than a chunk."""
    edges = np.arange(peers.size + 1) * 700_000
    came = np.zeros(edges[-1], dtype=np.uint32)
    peers.all_to_all(np.full(edges[-1], peers.rank, dtype=np.uint32), edges, came, edges)
    return came


@pytest.mark.parametrize("size", [2, 3, 5])
def test_over_tls(secrecy, size):
    long = np.arange(5 * SOME)

    def work(peers):
        return (
            peers.add(long)[-1],
            peers.highest(np.array([peers.rank])).tolist(),
            peers.gather(bytes([peers.rank]) * 2_000_000 * peers.rank),
            from_all(peers),
        )

    for result in crowd(size, work, secrecy=secrecy):
        assert not isinstance(result, Exception), result
        last, top, pieces, came = result
        np.testing.assert_array_equal(came, np.arange(size).repeat(700_000))
        assert last == size * long[-1]
        assert top == [size - 1]
        assert pieces == [bytes([rank]) * 2_000_000 * rank for rank in range(size)]


def test_plain_talk_is_refused_by_tls(secrecy):
    def disturb(addresses):
        for address in addresses:
            with socket.create_connection(address) as stranger:
                stranger.sendall(RUN + b"\0\0\0\1")

    results = crowd(2, lambda peers: peers.add(np.ones(1, dtype=np.int64)).tolist(), secrecy=secrecy, disturb=disturb)
    assert results == [[2]] * 2


def families(peers):
    peers.add(np.ones(3, dtype=np.int64))
    return {connection.family for connection in peers._connections.values()}


NEAR = pytest.mark.skipif(not connections.CAN_BE_NEAR, reason="Unix sockets without files are Linux's")


@NEAR
def test_members_of_one_machine_talk_through_unix_sockets():
    strangers = []

    def disturb(addresses):
        for address in addresses:
            stranger = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            stranger.connect(connections._near_name(address))
            stranger.sendall(b"f" * 16 + b"\0\0\0\1")
            strangers.append(stranger)

    assert crowd(3, families, disturb=disturb) == [{socket.AF_UNIX}] * 3
    for stranger in strangers:
        stranger.close()


@NEAR
def test_with_tls_there_are_no_unix_sockets(secrecy):
    assert crowd(2, families, secrecy=secrecy) == [{socket.AF_INET}] * 2


@NEAR
def test_whoever_has_taken_the_name_hears_nothing(monkeypatch):
    """Not the run's name, which would let it in, if it is another user's; members meet all the same."""
    monkeypatch.setattr(connections, "_is_own_user", lambda connection: False)
    assert crowd(2, families) == [{socket.AF_INET}] * 2


@pytest.mark.parametrize("length", [0, 1, 5 * SOME])
def test_without_unix_sockets(length, monkeypatch):
    monkeypatch.setattr(connections, "CAN_BE_NEAR", False)
    arrays = np.arange(3 * length).reshape(3, length)
    for result in crowd(3, lambda peers: (peers.add(arrays[peers.rank]), families(peers))):
        assert not isinstance(result, Exception), result
        np.testing.assert_array_equal(result[0], arrays.sum(axis=0))
        assert result[1] == {socket.AF_INET}
