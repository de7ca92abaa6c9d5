"""docs/serving.md: its commands and its code are run against a service that was started as the page says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.serving.test_server import serve  # noqa: F401 (a fixture)

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "serving.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def commands(first_word):
    lines = "".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith(first_word)]


@pytest.mark.compiled_only
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_page_does_what_it_says(serve, tmp_path, monkeypatch, capsys):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    training, asking = blocks("python")
    exec(compile(training, "serving.md", "exec"), {})
    shutil.copy("trees.json", "new.json")
    token = "0123456789abcdef0123456789abcdef"
    started = [shlex.split(line)[2:] for line in commands("rankforce serve")]
    assert started == [["trees.json"], ["trees.json", "--host", "0.0.0.0", "--token-file", "token"]]
    server = serve(*started[0])

    def run(command, port):
        done = subprocess.run(
            ["bash", "-c", command.replace("localhost:8000", f"127.0.0.1:{port}").replace("curl ", "curl -f ")],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    open_ones = [line for line in commands("curl") if "token" not in line]
    answers = [json.loads(run(line, server.port)) for line in open_ones]
    assert [len(one["scores"]) for one in answers] == [3, 2, 2, 0]
    assert answers[0].keys() == json.loads(blocks("json")[0]).keys()
    exec(compile(asking.replace("localhost:8000", f"127.0.0.1:{server.port}"), "serving.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith(str(answers[1]["scores"])), "the same two documents in Arrow"
    run(commands("cp")[0], server.port)
    (asked,) = [line for line in commands("curl") if "token" in line]
    assert f'"Authorization: Bearer {token}"' in asked.replace("$(cat token)", token)


def test_the_page_names_every_path_option_and_metric():
    from rankforce.serving.metrics import ServingMetrics

    reference = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    options = set(re.findall(r"`(--[a-z-]+)", reference.split("\n## serve\n")[1].split("\n## ")[0]))
    assert {option for option in options if option not in PAGE} == {"--port"}
    names = {metric.name for metric in ServingMetrics().registry.collect() if metric.name.startswith("rankforce")}
    assert len(names) == 8
    assert {name for name in names if name not in PAGE} == set()


def test_the_image_runs_as_a_user_without_rights_and_takes_only_what_there_is():
    lines = (REPOSITORY / "deploy" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    users = [rest for word, rest in steps if word == "USER"]
    assert users == ["10001:10001"]
    for rest in (rest for word, rest in steps if word == "COPY"):
        assert all((REPOSITORY / source).exists() for source in rest.split()[:-1])
    entry = json.loads(next(rest for word, rest in steps if word == "ENTRYPOINT"))
    assert entry[:2] == ["rankforce", "serve"]
    assert "--allow-without-token" not in entry
