"""A digest of what a data set holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.collective import collective
from rankforce.threads import over_queries

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

DIGEST_SIZE = 16  # bytes


def fingerprint_of(data: Dataset) -> str:
    """A digest of features, categories, labels, queries and weights, whatever the order of the queries.

    The digests of the queries are kept with the data: others that take part in a training may change, and are asked
    every time.
    """
    known = vars(data)
    if "_query_digests" not in known:
        known["_query_digests"] = _query_digests(data)
    weighted = data.weights is not None, data.query_weights is not None
    header: tuple[Any, ...] = (sorted(data.labels), data.feature_names, *weighted)
    if data.categories:
        header = (*header, dict(data.categories))
    joined = b"".join(collective().gather(known["_query_digests"]))
    digests = [joined[place : place + DIGEST_SIZE] for place in range(0, len(joined), DIGEST_SIZE)]
    return fingerprint_from(digests, header)


def _query_digests(data: Dataset) -> bytes:
    """The digests of all queries, one after the other."""
    columns = [data.features, *(data.labels[name] for name in sorted(data.labels))]
    if data.weights is not None:
        columns.append(data.weights)
    per_query = [b""] * data.n_queries
    in_order = bool((data.rows[1:] > data.rows[:-1]).all())  # then a query is a slice, which need not be copied

    def digest_queries(first: int, last: int) -> None:
        for q in range(first, last):
            begin, end = data.query_starts[q], data.query_starts[q + 1]
            rows = slice(begin, end) if in_order else data.rows[begin:end]
            name = str(data.query_ids[q]).encode(errors="surrogatepass")
            digest = hashlib.blake2b(b"%d %d " % (len(name), end - begin) + name, digest_size=DIGEST_SIZE)
            for column in columns:
                digest.update(np.ascontiguousarray(column[rows]).ravel().data)
            if data.query_weights is not None:
                digest.update(data.query_weights[q].tobytes())
            per_query[q] = digest.digest()

    over_queries(data.query_starts, digest_queries)
    return b"".join(per_query)


def fingerprint_from(digests: Sequence[bytes], header: tuple[Any, ...]) -> str:
    """The fingerprint, from the digests of all queries, and what is said of the data as a whole."""
    whole = hashlib.blake2b(repr(header).encode(errors="surrogatepass"), digest_size=DIGEST_SIZE)
    for one in sorted(digests):
        whole.update(one)
    return whole.hexdigest()
