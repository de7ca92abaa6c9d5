"""Who is answered: tokens, addresses, names of the host."""

from __future__ import annotations

import pytest

import rankforce as rf
from rankforce.serving.access import AccessRule, check_binding, is_loopback, read_token

TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"authorization": f"Bearer {TOKEN}"}
QUERY = {"rows": []}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": TOKEN},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer é"},
    ],
)
def test_without_the_token_there_is_no_answer(start, headers):
    client = start(token=TOKEN)
    for method, path in (("POST", "/score"), ("GET", "/models"), ("GET", "/metrics"), ("GET", "/nowhere")):
        reply = client.ask(method, path, QUERY, headers=headers)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert client.metric("rankforce_requests_total", model="", endpoint="other", status="401") == 4


def test_with_the_token_there_is(start):
    client = start(token=TOKEN)
    assert client.post("/score", QUERY, headers=BEARER).status == 200
    assert client.post("/score", QUERY, headers={"authorization": f"bearer  {TOKEN} "}).status == 200
    assert client.get("/metrics", headers=BEARER).status == 200


def test_probes_and_the_description_need_none_and_tell_strangers_nothing(start):
    client = start(token=TOKEN)
    client.service.shelf.problems["trees"] = "/secret/place"
    for path in ("/health", "/ready", "/docs", "/openapi.json"):
        reply = client.get(path)
        assert reply.status == 200
        assert b"secret" not in reply.body
    assert client.get("/ready", headers=BEARER).json()["problems"] == {"trees": "/secret/place"}


def test_tokens_are_compared_without_telling_how_far_they_agree(monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((len(a), len(b))) or a == b)
    rule = AccessRule.of(TOKEN, allow_without_token=False)
    assert not rule.allows({b"authorization": b"Bearer 0"})
    assert rule.allows({b"authorization": b"Bearer " + TOKEN.encode()})
    assert compared == [(32, 32), (32, 32)]


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("127.0.0.1:8000", 200), ("[::1]:8000", 200), ("127.9.9.9", 200), ("evil.example:8000", 421),
     ("localhost.evil.example", 421), ("", 421), ("10.0.0.1", 421), ("[::1", 421)],
)  # fmt: skip
def test_without_a_token_only_names_of_this_machine_are_answered(start, host, status):
    client = start()
    assert client.post("/score", QUERY, headers={"host": host}).status == status
    assert client.get("/health", headers={"host": host}).status == status


def test_other_names_with_a_token_or_when_everyone_is_answered(start):
    elsewhere = {"host": "ranker.example"}
    assert start(token=TOKEN).post("/score", QUERY, headers=BEARER | elsewhere).status == 200
    assert start(allow_without_token=True).post("/score", QUERY, headers=elsewhere).status == 200


def test_other_machines_need_a_token():
    for host in ("0.0.0.0", "::", "10.0.0.1", "ranker.example"):
        assert not is_loopback(host)
        with pytest.raises(rf.SettingsError, match="can be reached by other machines, and there is no token"):
            check_binding(host, None, False)
        check_binding(host, TOKEN, False)
        check_binding(host, None, True)
    for host in ("localhost", "127.0.0.1", "127.1.2.3", "::1"):
        check_binding(host, None, False)


def test_tokens_from_a_file_or_the_environment(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"  {TOKEN}\n")
    assert read_token(file, {"RANKFORCE_TOKEN": "x" * 20}) == TOKEN
    assert read_token(None, {"RANKFORCE_TOKEN": TOKEN}) == TOKEN
    assert read_token(None, {}) is None
    for bad in ("", "short", "with space " + TOKEN, "é" * 20, "\x1b" * 20):
        with pytest.raises(rf.SettingsError, match="RANKFORCE_TOKEN: a token is at least 16 visible"):
            read_token(None, {"RANKFORCE_TOKEN": bad})
    file.write_bytes(b"\xff" * 32)
    with pytest.raises(rf.SettingsError, match="the token cannot be read: not ASCII"):
        read_token(file, {})
    with pytest.raises(rf.SettingsError, match="No such file"):
        read_token(tmp_path / "nowhere", {})
