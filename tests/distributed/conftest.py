"""What all tests on a cluster have: a small one, unless a file has its own, and a limit of time."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def client():
    from tests.distributed.clusters import cluster_of

    with cluster_of(2) as client:
        yield client


@pytest.fixture(autouse=True)
def in_time(request):
    if request.node.get_closest_marker("cluster") is None:
        yield
        return
    from tests.distributed.clusters import within

    with within(900):
        yield
