"""What befalls workers in the tests: each function runs on a worker and arms it.

A fate strikes once the function that it watches is called for the n-th time: the process is killed, or stopped.
"""

from __future__ import annotations

import importlib
import os
import signal

STAGES = {
    "columns": ("rankforce.distributed.settling", "CategoryTally.take"),
    "survey": ("rankforce.distributed.surveying", "PieceSurvey.take"),
    "edges": ("rankforce.distributed.edges", "_runs"),
    "strays": ("rankforce.distributed.strays", "Dataset.concat"),
    "load": ("rankforce.distributed.shards", "Loading.take"),
    "introduction": ("rankforce.distributed.taking_part", "traits"),
    "meeting": ("rankforce.distributed.taking_part", "Peers"),
    "sum": ("rankforce.distributed.peers", "Peers.add"),
    "rows": ("rankforce.distributed.peers", "Peers.all_to_all"),
    "watched": ("rankforce.training.monitor", "Monitor.record"),
    "tree": ("rankforce.training.loop", "Iteration"),
    "ending": ("rankforce.training.iterative", "knowing_scores"),
}


def arm(stage, after, number=signal.SIGKILL):
    """Strike at the (``after`` + 1)-th call of what a stage is known by."""
    module, path = STAGES[stage]
    owner = importlib.import_module(module)
    *holders, name = path.split(".")
    for holder in holders:
        owner = getattr(owner, holder)
    real = getattr(owner, name)
    calls = [0]

    def doomed(*arguments, **options):
        calls[0] += 1
        if calls[0] > after:
            os.kill(os.getpid(), number)
        return real(*arguments, **options)

    setattr(owner, name, doomed)
    return os.getpid()
