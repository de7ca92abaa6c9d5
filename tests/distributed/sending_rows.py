"""A preload of Dask's workers: members send the rows of every leaf, which so small data would send as histograms.

It has to be there before a worker takes part, also one that a nanny starts anew: all members decide alike what is sent.
"""

from __future__ import annotations

from rankforce.distributed.peers import Peers
from rankforce.trees import leaf_rounds

ALWAYS = -(10**9)  # bytes that sending rows costs, beyond the rows: less than any histogram
_sent = [0]


def dask_setup(worker):
    """Called by Dask in the process of a worker."""
    leaf_rounds.TOLL = ALWAYS
    real = Peers.all_to_all

    def counted(*arguments):
        _sent[0] += 1
        return real(*arguments)

    Peers.all_to_all = counted


def exchanges():
    """On a worker: how often it has sent rows since it was asked."""
    count, _sent[0] = _sent[0], 0
    return count
