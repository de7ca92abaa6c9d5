"""What Prometheus reads. Labels are bounded: names of models that are served, endpoints, statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

if TYPE_CHECKING:
    from rankforce.serving.served_models import ServedModel

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
NO_MODEL: Final = ""  # of a request that concerns none, or one that is not served

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_ROWS = (1, 10, 30, 100, 300, 1000, 3000, 10_000)


class ServingMetrics:
    """Counters of one service, in a registry of their own. Also a ``LoadObserver``."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter(
            "rankforce_requests", "Requests answered.", ["model", "endpoint", "status"], registry=registry
        )
        self.seconds = Histogram(
            "rankforce_request_seconds", "From the headers of a request to the end of its answer.",
            ["model", "endpoint"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.scoring = Histogram(
            "rankforce_scoring_seconds", "Reading a body, scoring and writing the answer, without waiting.",
            ["model"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.rows = Histogram(
            "rankforce_request_rows", "Documents of a request.", ["model"], buckets=_ROWS, registry=registry
        )
        self.running = Gauge("rankforce_requests_running", "Requests that are read, wait or run.", registry=registry)
        self.loads = Counter(
            "rankforce_model_loads", "Files of models that were tried, by outcome.", ["model", "outcome"],
            registry=registry,
        )  # fmt: skip
        self.loaded = Gauge(
            "rankforce_model_loaded_timestamp_seconds", "When the model that is served was loaded.", ["model"],
            registry=registry,
        )  # fmt: skip
        self.stale = Gauge(
            "rankforce_model_stale", "1 while the file cannot be loaded and the model before it is served.", ["model"],
            registry=registry,
        )  # fmt: skip

    def request_done(self, model: str, endpoint: str, status: int, seconds: float) -> None:
        self.requests.labels(model, endpoint, str(status)).inc()
        self.seconds.labels(model, endpoint).observe(seconds)

    def query_scored(self, model: str, rows: int, seconds: float) -> None:
        self.rows.labels(model).observe(rows)
        self.scoring.labels(model).observe(seconds)

    def model_loaded(self, served: ServedModel) -> None:
        self.loads.labels(served.name, "loaded").inc()
        self.loads.labels(served.name, "failed").inc(0)
        self.loaded.labels(served.name).set(served.loaded)
        self.stale.labels(served.name).set(0)

    def model_failed(self, name: str) -> None:
        self.loads.labels(name, "failed").inc()
        self.stale.labels(name).set(1)

    def model_unchanged(self, name: str) -> None:
        self.stale.labels(name).set(0)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
