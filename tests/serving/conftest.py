"""A small model, its file, and a service that answers in this process."""

from __future__ import annotations

import pytest
from tests.models.random_trees import random_ensemble
from tests.serving.asgi_client import Client

from rankforce.serving.application import build
from rankforce.serving.server import make_service

NAMES = ("bm25", "age", "clicks: all", "länge")


def make_model(seed=0, **options):
    return random_ensemble(seed, [8, 5, 20], features=len(NAMES), feature_names=list(NAMES), **options)


@pytest.fixture(scope="session")
def model():
    return make_model()


@pytest.fixture
def file(tmp_path, model):
    path = tmp_path / "trees.json"
    model.save(path)
    return path


@pytest.fixture
def start(file):
    """Start a service with these options; a client that asks it."""
    services = []

    def start(files=None, warm=True, **options):
        service = make_service(files or {"trees": file}, **options)
        services.append(service)
        if warm:
            service.shelf.warm_all()
        return Client(build(service), service)

    yield start
    for service in services:
        service.shelf.stop()
        service.pool.shut()


@pytest.fixture
def client(start):
    return start()
