"""The command line as a whole: every command is found, helped, documented; nothing heavy is imported for help."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import rankforce as rf
from rankforce.cli import application, main, output
from rankforce.cli.application import build, command_names
from rankforce.cli.failures import reporting_failures

REPOSITORY = Path(__file__).parents[2]
NOW = {"compare", "convert", "demo", "evaluate", "generate", "inspect"}


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, env=os.environ | environment
    )


def test_commands_are_found_by_their_files() -> None:
    assert set(command_names()) >= NOW
    group: Any = typer.main.get_command(build())
    assert set(group.commands) == {name.replace("_", "-") for name in command_names()}


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_help_for_itself_and_its_options(run: Any, name: str) -> None:
    group: Any = typer.main.get_command(build())
    command = group.commands[name.replace("_", "-")]
    first = command.help.split("\n")[0]
    assert first.endswith(".")
    assert len(first) <= 65, "longer first lines are cut in the list of commands"
    for parameter in command.params:
        assert parameter.help, f"{parameter.name} has no help"
        assert "[" not in parameter.help, "square brackets are markup on a terminal"
        flag = getattr(parameter, "is_flag", False)
        assert flag or parameter.metavar, f"{parameter.name} has no metavar"
    outcome = run(name.replace("_", "-"), "--help")
    assert outcome.code == 0
    assert first in outcome.out
    assert "╭" not in outcome.out, "plain when not on a terminal"


def test_help_lists_the_commands_and_version_prints_it(run: Any) -> None:
    for arguments in ((), ("--help",), ("-h",)):
        outcome = run(*arguments)
        assert outcome.code == 0
        assert all(f"\n  {name}" in outcome.out for name in NOW)
    assert run("--version").out == f"rankforce {rf.__version__}\n"


def test_unknown_commands_and_options_leave_with_2(run: Any, data: Path) -> None:
    for arguments in (["nonsense"], ["evaluate"], ["evaluate", data, "1", "--nonsense"]):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert "Traceback" not in outcome.err


@pytest.mark.parametrize("command", ["", *command_names()])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        "import sys; sys.argv = ['rankforce', *sys.argv[1:], '--help']\n"
        "from rankforce.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stopped:\n    assert not stopped.code\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'pandas', 'rich', 'fastapi', 'uvicorn'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = python("-c", code, *filter(None, [command.replace("_", "-")]))
    assert done.returncode == 0, done.stderr


def test_reference_is_current() -> None:
    writer = _load(REPOSITORY / "docs" / "write_cli_reference.py")
    written = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == writer.reference(), "run python docs/write_cli_reference.py"
    assert all(f"\n## {name.replace('_', '-')}\n" in written for name in command_names())


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def led_to_by_ctrl_c(error: Exception) -> Exception:
    """As what is being imported raises it, or a clean-up."""
    cause = RuntimeError("on the way")
    cause.__context__ = KeyboardInterrupt()
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (rf.DataError("no such thing"), 2, "rankforce: no such thing\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x.txt"),
            2,
            "rankforce: x.txt: No such file or directory\n",
        ),
        (OSError("disk full"), 2, "rankforce: disk full\n"),
        (KeyboardInterrupt(), 130, "rankforce: interrupted\n"),
        (TypeError("surprise"), 70, "unexpected TypeError: surprise"),
        (led_to_by_ctrl_c(ImportError("initialisation failed")), 130, "rankforce: interrupted\n"),
        (led_to_by_ctrl_c(rf.DataError("cannot be read")), 130, "rankforce: interrupted\n"),
        (ExceptionGroup("several", [led_to_by_ctrl_c(OSError("closed"))]), 130, "rankforce: interrupted\n"),
    ],
)
def test_failures_become_messages_and_exit_codes(
    raised: BaseException,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RANKFORCE_DEBUG", raising=False)

    def command() -> None:
        raise raised

    with pytest.raises(typer.Exit) as stopped:
        reporting_failures(command)()
    assert stopped.value.exit_code == code
    assert message in capsys.readouterr().err
    monkeypatch.setenv("RANKFORCE_DEBUG", "1")
    with pytest.raises(type(raised)):
        reporting_failures(command)()


def test_ctrl_c_leaves_with_130() -> None:
    code = (
        "import sys, time\nfrom rankforce.cli import failures\n"
        "def wait():\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "import typer\napp = typer.Typer(pretty_exceptions_enable=False)\n"
        "app.command()(failures.reporting_failures(wait))\napp([])"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "rankforce: interrupted\n"


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), led_to_by_ctrl_c(ImportError("initialisation failed"))])
def test_ctrl_c_at_the_start_leaves_with_130(
    raised: BaseException, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise raised

    monkeypatch.setattr(application, "build", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main.main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "rankforce: interrupted\n"


def test_what_takes_time_is_imported_where_ctrl_c_is_awaited() -> None:
    done = python("-c", "import sys, rankforce.cli.main\nprint([one for one in sys.modules if 'typer' in one])")
    assert done.stdout == "[]\n"


def test_a_full_disk_is_named(run: Any, data: Path, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rankforce.cli.main", "evaluate", str(data), "1"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, env=os.environ | {"RANKFORCE_QUIET": "1"},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "rankforce: standard output: No space left on device\n")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "full.png"
    picture.symlink_to("/dev/full")
    outcome = run("combine", data, "1", "2", "--plot", picture)
    assert (outcome.code, outcome.err) == (2, f"rankforce: {picture}: cannot be written: No space left on device\n")


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    code = (
        "from rankforce.cli import failures, output\nimport typer\n"
        "def much():\n    for _ in range(100000): output.show('x' * 100)\n"
        "app = typer.Typer(pretty_exceptions_enable=False)\n"
        "app.command()(failures.reporting_failures(much))\napp([])"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "x" * 100 + "\n"
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def test_tables_are_plain_in_pipes_and_drawn_on_terminals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = output.Table(["name", "value"], [["a", "0.5"], ["long name", "10"]], title="Title")
    output.show(table, "text with [brackets]")
    plain = "Title\nname       value\na            0.5\nlong name     10\ntext with [brackets]\n"
    assert capsys.readouterr().out == plain
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    output.show(table, "text with [brackets]")
    drawn = capsys.readouterr().out
    assert "─" in drawn
    assert "long name" in drawn
    assert "text with [brackets]" in drawn


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    output.show_json({"a": float("nan"), 1: np.array([1.0, np.inf]), "b": (np.int64(3), Path("x"))})
    assert json.loads(capsys.readouterr().out) == {"a": None, "1": [1.0, None], "b": [3, "x"]}


def test_python_m_runs_the_command() -> None:
    command = [sys.executable, "-m", "rankforce", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "rankforce", "")
