"""What every test may rely on, however the tests were started."""

from __future__ import annotations

import signal
from typing import Any

# A shell starts what runs in the background with Ctrl-C ignored, and so would those tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files with tests that take long: begun first, so that no process is left with one of them at the end.
LONG = (
    "rankers/test_lambdamart.py",
    "test_collective.py",
    "training/test_own_code.py",
    "test_guides.py",
    "distributed/test_losses.py",
    "compiling/test_cache.py",
    "training/test_checkpoints.py",
    "test_notebooks.py",
    "distributed/test_mpi.py",
    "reporting/test_in_chromium.py",
    "compiling/test_background.py",
    "cli/test_warm_up.py",
    "test_torch.py",
    "soak/test_hostile_names.py",
    "stores/test_bounded.py",
    "serving/test_server.py",
    "test_packaging.py",
)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    places = {f"tests/{name}": place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(LONG)))
