"""The command as a process: bound, asked, reloaded under load, ended by SIGTERM with every answer given."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from tests.cli.conftest import run  # noqa: F401 (a fixture)
from tests.serving.conftest import make_model
from tests.serving.test_application import MATRIX, QUERY

from rankforce.serving.server import bound

TOKEN = "0123456789abcdef0123456789abcdef"
BODY = json.dumps(QUERY).encode()


class Server:
    """A running ``rankforce serve``."""

    def __init__(self, arguments, **environment):
        command = [sys.executable, "-m", "rankforce", "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | environment)
        self.lines = []
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)$", self.line("serving"))[1])
        self.line("ready")
        threading.Thread(target=self._read, daemon=True).start()

    def line(self, words):
        """The next line with these words."""
        for text in self.process.stderr:
            self.lines.append(text.rstrip("\n"))
            if words in text:
                return self.lines[-1]
        raise AssertionError(self.lines)

    def _read(self):
        self.lines.extend(text.rstrip("\n") for text in self.process.stderr)

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, method="POST", path="/score", body=BODY, connection=None, **headers):
        if connection is None:
            with contextlib.closing(self.connection()) as connection:
                return self.ask(method, path, body, connection, **headers)
        connection.request(method, path, body, {"Content-Type": "application/json", **headers})
        reply = connection.getresponse()
        return reply.status, reply.read()

    def status_or_none(self, **request):
        """The status of an answer; None where the connection was closed while the request was sent."""
        try:
            return self.ask(**request)[0]
        except ConnectionError:
            return None


@pytest.fixture
def serve():
    servers = []

    def serve(*arguments, **environment):
        servers.append(Server(arguments, **environment))
        return servers[-1]

    yield serve
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait(timeout=120)
        with contextlib.suppress(ValueError):
            server.process.stderr.close()


def test_reload_under_load_a_token_and_a_graceful_end(serve, file, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    server = serve(file, "--token-file", tmp_path / "token", "--watch", "0.02", "--threads", "2")
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert server.ask()[0] == 401
    assert server.ask(Authorization="Bearer wrong" + TOKEN)[0] == 401
    models = [make_model(seed) for seed in range(4)]
    allowed = [model.predict(MATRIX).tolist() for model in models]
    replies, failures, done = [], [], threading.Event()

    def load():
        connection = server.connection()
        while not done.is_set():
            try:
                status, body = server.ask(connection=connection, **bearer)
                replies.append((status, json.loads(body)))
            except Exception as error:
                failures.append(error)
                break
        connection.close()

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for model in models[1:]:
        before = len(server.lines)
        model.save(file)
        deadline = time.monotonic() + 120
        while not any("reloaded" in line for line in server.lines[before:]):
            assert time.monotonic() < deadline, server.lines
            time.sleep(0.01)
    file.write_bytes(b"damaged")
    while not any("goes on serving" in line for line in server.lines):
        time.sleep(0.01)
    time.sleep(0.05)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert {status for status, _ in replies} == {200}
    scores_of = {}
    for _, found in replies:  # never half of one model and half of another
        assert found["scores"] in allowed
        scores_of.setdefault(found["digest"], found["scores"])
        assert scores_of[found["digest"]] == found["scores"]
    assert len(scores_of) > 1
    _, metrics = server.ask("GET", "/metrics", None, **bearer)
    assert b'rankforce_model_loads_total{model="trees",outcome="loaded"} 4.0' in metrics
    assert b'rankforce_model_stale{model="trees"} 1.0' in metrics
    end_while_a_request_runs(server, bearer)


def end_while_a_request_runs(server, bearer):
    """SIGTERM between the two halves of a body: the answer still comes, new connections do not."""
    running = server.connection()
    running.putrequest("POST", "/score")
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(BODY)), **bearer}.items():
        running.putheader(name, value)
    running.endheaders(BODY[:10])
    time.sleep(1.0)  # it has been taken up
    server.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 120
    while True:  # until the port is shut
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
        except OSError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert server.process.poll() is None
    running.send(BODY[10:])
    reply = running.getresponse()
    assert reply.status == 200
    assert json.loads(reply.read())["scores"]
    running.close()
    assert server.process.wait(timeout=120) == 0
    deadline = time.monotonic() + 120
    while server.lines[-1] != "rankforce: stopped":  # a thread reads what the server writes
        assert time.monotonic() < deadline, server.lines
        time.sleep(0.01)


def test_bodies_that_are_too_large_or_broken_leave_the_server_alive(serve, file):
    server = serve(file, "--max-megabytes", "0.01", "--max-rows", "3", "--time-limit", "5", RANKFORCE_TOKEN=TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert server.ask(body=b"x" * 20_000, **bearer)[0] == 413
    # Chunked, no length announced: the answer comes before the end of the body, which may then find nobody.
    statuses = {server.status_or_none(body=(b"x" * 5000 for _ in range(4)), **bearer) for _ in range(8)}
    assert 413 in statuses
    assert statuses <= {413, None}
    assert server.ask(**bearer)[0] == 413  # four rows
    for raw in (b"\x16\x03\x01 hello\r\n\r\n", b"POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
            connection.sendall(raw)
            assert connection.recv(100).startswith(b"HTTP/1.1 400")
    gone = server.connection()
    gone.putrequest("POST", "/score")
    gone.putheader("Content-Length", "100")
    gone.endheaders(b"{")
    gone.close()  # in the middle of a body
    assert server.ask("GET", "/health", None)[0] == 200
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=120) == 130


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "give one with --token-file ... or the variable RANKFORCE_TOKEN"),
        (["--port", "70000"], "port must be a whole number of at least 0 and at most 65535"),
        (["--max-rows", "0"], "rows must be a whole number of at least 1"),
        (["--max-requests", "0"], "requests must be"),
        (["--max-megabytes", "nan"], "megabytes must be"),
        (["--time-limit", "0"], "seconds must be a number above 0"),
        (["--watch", "-1"], "watch must be"),
        (["--threads", "0"], "threads must be"),
        (["--token-file", "/nowhere"], "the token cannot be read"),
        (["--host", "256.0.0.1", "--allow-without-token"], "cannot be listened to"),
        (["nowhere.json"], "nowhere.json: the model cannot be read"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is(run, file, arguments, words):  # noqa: F811
    port = () if "--port" in arguments else ("--port", "0")
    outcome = run("serve", file, *arguments, *port)
    assert outcome.code == 2
    assert words in outcome.err
    assert "Traceback" not in outcome.err


def test_a_port_that_is_taken_is_named(run, file):  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = run("serve", file, "--port", taken.getsockname()[1])
    assert (outcome.code, "cannot be listened to: Address already in use" in outcome.err) == (2, True)


def test_answers_do_not_wait_for_acknowledgements():
    with bound("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # by which asyncio knows where to set TCP_NODELAY


def test_an_extra_that_is_not_installed_is_named(run, file, monkeypatch):  # noqa: F811
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    outcome = run("serve", file)
    assert outcome.code == 2
    assert "rankforce serve needs fastapi, which is not installed: pip install '.[serve]'" in outcome.err
