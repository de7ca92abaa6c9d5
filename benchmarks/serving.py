"""Serving: the latency of a query at rising load until the service is full, JSON against Arrow, and during reloads.

A ``rankforce serve`` in a process of its own, on the loopback address; this process asks. Requests are sent at a fixed
rate, whether or not answers have come, and latency counts from when a request was due: a slow answer does not make the
next ones look fast. Everything is bounded: seconds per step, steps, requests.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.serving.answers import FORMATS, JSON, scores_and_order
from rankforce.serving.arrow_queries import MEDIA_TYPE as ARROW

FEATURES = 136
NAMES = [f"feature_{number}" for number in range(FEATURES)]
FULL = 0.9  # a step that answers less than this share of its requests in time ends the rise
MOST_CONNECTIONS = 60  # below the service's limit of requests, so that what waits waits here and is counted


def train(trees: int, seed: int) -> rf.LambdaMART:
    data = rf.make_artificial(queries=200, documents=100, features=FEATURES, seed=seed).replace(feature_names=NAMES)
    return rf.LambdaMART(n_trees=trees, n_leaves=31, growth="leafwise", progress=False, seed=seed).fit(data)


def bodies(matrix: np.ndarray) -> dict[str, tuple[str, bytes]]:
    """The same query in every form: float32 features as their shortest decimals, as most programs write them."""
    import pyarrow as pa

    rows = [[float(str(value)) for value in row] for row in matrix]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    sink = io.BytesIO()
    batch = pa.record_batch({name: matrix[:, place] for place, name in enumerate(NAMES)})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return {
        "JSON, columns": (JSON, json.dumps({"columns": columns}).encode()),
        "JSON, names once": (JSON, json.dumps({"features": NAMES, "rows": rows}).encode()),
        "JSON, rows": (JSON, json.dumps({"rows": [dict(zip(NAMES, row, strict=True)) for row in rows]}).encode()),
        "Arrow": (ARROW, sink.getvalue()),
    }


class Service:
    """A running service."""

    def __init__(self, model: Path) -> None:
        command = [sys.executable, "-m", "rankforce", "serve", str(model), "--port", "0", "--watch", "0.05"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.port = int(self._await(r"http://127\.0\.0\.1:(\d+)"))
        self._await("(ready)")

    def _await(self, pattern: str) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.search(pattern, line)
            if found:
                return found[1]
        raise SystemExit("the service did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)


class Connections:
    """Connections that are used again, opened as they are needed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.free: list[Any] = []
        self.limit = asyncio.Semaphore(MOST_CONNECTIONS)

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        async with self.limit:
            reader, writer = self.free.pop() if self.free else await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"content-length: (\d+)", head)
            body = await reader.readexactly(int(found[1]) if found else 0)
            self.free.append((reader, writer))
            return int(head[9:12]), body

    def close(self) -> None:
        for _, writer in self.free:
            writer.close()


async def load(port: int, request: bytes, rate: float, seconds: float, meanwhile: Any = None) -> dict[str, Any]:
    """Send at a rate; latencies in milliseconds from when each request was due, and how many were not answered 200."""
    connections = Connections(port)
    latencies: list[float] = []
    wrong: list[Any] = []

    async def one(due: float) -> None:
        try:
            status, _ = await connections.ask(request)
        except (OSError, asyncio.IncompleteReadError) as error:
            wrong.append(repr(error))
            return
        latencies.append(1e3 * (time.perf_counter() - due))
        if status != 200:
            wrong.append(status)

    other = asyncio.create_task(meanwhile()) if meanwhile else None
    tasks, begin = [], time.perf_counter()
    while (other is not None and not other.done()) or (other is None and len(tasks) < rate * seconds):
        due = begin + len(tasks) / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(due)))
        if len(tasks) > 100_000:
            raise SystemExit("too many requests: the reloads do not end")
    in_time = len(latencies)
    await asyncio.gather(*tasks, *([other] if other else []))
    taken = time.perf_counter() - begin
    connections.close()
    return {
        "sent": len(tasks),
        "share": in_time / len(tasks),
        "p50": float(np.percentile(latencies, 50)),
        "p99": float(np.percentile(latencies, 99)),
        "rate": len(tasks) / taken,
        "wrong": wrong,
    }


def request_of(media_type: str, body: bytes, port: int) -> bytes:
    head = f"POST /score HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {media_type}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def rising_load(service: Service, sent: dict[str, tuple[str, bytes]], seconds: float, steps: int) -> float:
    """Print a table per form; the highest rate at which JSON by columns was answered in time."""
    best = 0.0
    for name, (media_type, body) in sent.items():
        request = request_of(media_type, body, service.port)
        asyncio.run(load(service.port, request, 50, 1.0))  # warm
        print(f"\n{name}, {len(body) / 1e3:.0f} kB per query")
        print(f"{'sent per second':>16}{'answered':>10}{'p50 ms':>9}{'p99 ms':>9}{'errors':>8}")
        rate = 100.0
        for _ in range(steps):
            found = asyncio.run(load(service.port, request, rate, seconds))
            full = found["share"] < FULL or found["p99"] > 1000
            print(f"{rate:>16.0f}{found['rate']:>10.0f}{found['p50']:>9.2f}{found['p99']:>9.2f}{len(found['wrong']):>8}"
                  + ("   full" if full else ""))  # fmt: skip
            if full or found["wrong"]:
                break
            if name == "JSON, columns":
                best = rate
            rate *= 1.4
    return best


def reloads(service: Service, request: bytes, model: Path, rate: float, count: int, trees: int) -> None:
    """Exchange the file ``count`` times under load."""
    other = train(trees, seed=2)
    versions = [model.read_bytes()]
    other.save(model)
    versions.append(model.read_bytes())
    digests = [hashlib.sha256(version).hexdigest() for version in versions]

    async def exchange() -> None:
        connections = Connections(service.port)
        about = f"GET /models/model HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\n\r\n".encode()
        for number in range(count):
            beside = model.with_suffix(".new")
            beside.write_bytes(versions[number % 2])
            os.replace(beside, model)
            deadline = time.perf_counter() + 10
            while json.loads((await connections.ask(about))[1])["digest"] != digests[number % 2]:
                if time.perf_counter() > deadline:
                    raise SystemExit(f"reload {number} was not seen within 10 s")
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.2)
        connections.close()

    time.sleep(1)
    steady = asyncio.run(load(service.port, request, rate, 5.0))
    found = asyncio.run(load(service.port, request, rate, 0.0, exchange))
    print(f"\n{count} reloads of {len(versions[0]) / 1e6:.1f} MB at {rate:.0f} requests per second, "
          f"{found['sent']:,} requests, {len(found['wrong'])} errors")  # fmt: skip
    print(f"  without reloads: p50 {steady['p50']:.2f} ms, p99 {steady['p99']:.2f} ms")
    print(f"  during reloads:  p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms")
    if found["wrong"]:
        raise SystemExit(f"errors during reloads: {found['wrong'][:5]}")


def parts(model: Any, matrix: np.ndarray, sent: dict[str, tuple[str, bytes]]) -> None:
    """Where the time of a query goes, without HTTP: the median of many calls."""

    def median(work: Any) -> float:
        times = []
        for _ in range(300):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return float(np.median(times)) * 1e6

    print(f"\nscoring {len(matrix)} documents: {median(lambda: scores_and_order(model, matrix)):.0f} µs")
    for name, (media_type, body) in sent.items():
        read = FORMATS[media_type].read
        micros = median(lambda read=read, body=body: read(body, model.feature_names, 10_000, False))
        print(f"reading it from {name}: {micros:.0f} µs")


def processor() -> str:
    try:
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each step of the rise")
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--reloads", type=int, default=50)
    options = parser.parse_args()
    ranker = train(options.trees, seed=1)
    matrix = np.random.default_rng(0).standard_normal((options.documents, FEATURES)).astype(np.float32)
    sent = bodies(matrix)
    print(f"{options.documents} documents × {FEATURES} features × {options.trees} trees; {processor()}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        ranker.save(path)
        model = rf.load(path)
        parts(model, matrix, sent)
        service = Service(path)
        try:
            rate = rising_load(service, sent, options.seconds, options.steps)
            request = request_of(*sent["JSON, columns"], service.port)
            reloads(service, request, path, max(rate / 2, 20.0), options.reloads, options.trees)
        finally:
            service.stop()


if __name__ == "__main__":
    main()
