"""Completion: what is offered, that it is what the commands accept, and the scripts of the shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from rankforce.cli import completion, help_panels
from rankforce.cli.application import build
from rankforce.cli.completion import completer
from rankforce.evaluation.conventions import CONVENTIONS
from rankforce.evaluation.request import BLANK_POLICIES
from rankforce.evaluation.ties import POLICIES
from rankforce.export.format import format_classes
from rankforce.measures.catalogue import measure
from rankforce.models.net_scaling import KINDS
from rankforce.rankers.catalogue import ranker_classes
from rankforce.rankers.mart import COSTS


def answers(monkeypatch: pytest.MonkeyPatch, capsys: Any, line: str, shell: str = "bash") -> list[str]:
    """What the command prints when a shell asks it to complete a line."""
    words = line.split(" ")
    monkeypatch.setenv(completion.VARIABLE, f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        build()(prog_name="rankforce")
    assert not stopped.value.code
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankforce ev", ["evaluate"]),
        ("rankforce evaluate --conv", ["--convention"]),
        ("rankforce evaluate d r -m NDC", ["NDCG", "NDCG@5", "NDCG@10"]),
        ("rankforce evaluate d r -m NDCG@1", ["NDCG@1", "NDCG@10", "NDCG@100"]),
        ("rankforce evaluate d r --convention xg", ["xgboost", "xgboost-"]),
        ("rankforce evaluate d mod", ["model:"]),
        ("rankforce train t --ranker lambda", ["lambdamart", "lambdarank"]),
        ("rankforce train t --lambda-function LocalC", ["LocalCost"]),
        ("rankforce train t --tier CND", ["CNDCG=", "CNDCG@5=", "CNDCG@10="]),
        ("rankforce train t --ranker prank --set n_m", ["n_members="]),
        ("rankforce train t --resume a", ["auto", "always"]),
        ("rankforce export m --to ltr-x", ["ltr-xgboost", "ltr-xgboost-raw"]),
        ("rankforce train t --out m", []),  # files: the shell's
        ("rankforce evaluate d", []),
    ],
)
def test_lines_are_completed(monkeypatch: pytest.MonkeyPatch, capsys: Any, line: str, expected: list[str]) -> None:
    assert answers(monkeypatch, capsys, line) == expected


def test_zsh_and_fish_are_answered_in_their_way(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    measures = answers(monkeypatch, capsys, "rankforce evaluate d r -m MA", "fish")
    assert measures == ["MAP", "MAP@5", "MAP@10"]
    zsh = answers(monkeypatch, capsys, "rankforce evaluate d r -m MA", "zsh")
    assert " ".join(zsh) == """_arguments '*: :(("MAP" "MAP@5" "MAP@10"))'"""


def test_what_is_offered_is_accepted() -> None:
    assert all(measure(f"{one}:clicks" if one.startswith("CNDCG") else one) for one in completion.measures(""))
    names = {one.lower(): kind for one, kind in ranker_classes().items() if one != "Bagging"}
    assert completion.rankers("") == sorted(names)
    for name, kind in names.items():
        assert completion.settings(name) == [f"{one}=" for one in sorted(kind._get_param_names())]
    assert set(completion.TIES) == set(POLICIES)
    assert set(completion.BLANK) == set(BLANK_POLICIES)
    assert set(completion.CONVENTIONS) == set(CONVENTIONS)
    assert completion.COSTS == COSTS
    assert set(completion.SCALINGS) == {*KINDS, "auto"}
    assert completion.formats("") == sorted(format_classes())


def test_files_follow_the_kind_of_a_ranking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.json").touch()
    monkeypatch.chdir(tmp_path)
    rankings = completer("ranking")
    assert rankings is not None
    assert rankings("model:") == [f"model:models{os.sep}"]
    assert rankings("model:models/") == [f"model:{os.path.join('models', 'a.json')}"]
    assert rankings("model:nowhere/") == []
    assert rankings("feature:") == ["feature:"]


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("rankforce evaluate d r -m NDC", "NDCG NDCG@5 NDCG@10"),
        ("rankforce evaluate d r -m NDCG@", "1 3 5 10 20 50 100"),  # bash keeps what it cut off
        ("rankforce evaluate d model:ru", "runs"),
        ("rankforce compare ", ""),
    ],
)
def test_bash_gets_the_rest_of_its_word(tmp_path: Path, line: str, reply: str) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    (tmp_path / "runs").touch()
    program = tmp_path / "rankforce"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m rankforce.cli.main "$@"\n')
    program.chmod(0o755)
    code = f"{completion.BASH}\nCOMP_LINE='{line}' COMP_POINT={len(line)}\n_rankforce_completion rankforce\n"
    code += 'echo "${COMPREPLY[*]}"'
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", f"compopt() {{ :; }}\n{code}"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, env=os.environ | {"PATH": path},
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (reply.split(), "")


def test_scripts_are_installed_and_shown(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for shell, place in (
        ("bash", ".bash_completions/rankforce.sh"),
        ("zsh", ".zfunc/_rankforce"),
        ("fish", ".config/fish/completions/rankforce.fish"),
    ):
        monkeypatch.setattr(completion, "shell", lambda shell=shell: shell)
        outcome = run("--install-completion")
        assert (outcome.code, outcome.err) == (0, "")
        assert str(tmp_path / place) in outcome.out
        shown = run("--show-completion").out
        assert completion.VARIABLE in shown
        assert shown.strip() == (tmp_path / place).read_text().strip()


def test_other_shells_are_refused_with_what_to_do(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shellingham = pytest.importorskip("shellingham")
    monkeypatch.setattr(shellingham, "detect_shell", lambda: ("tcsh", "/bin/tcsh"))
    outcome = run("--install-completion")
    assert outcome.code == 2
    assert "the shell here is tcsh, and completion is for bash, zsh, fish" in outcome.err


def test_options_of_long_commands_stand_in_panels() -> None:
    group: Any = typer.main.get_command(build())
    panels = {one.name: one.rich_help_panel for one in group.commands["train"].params if one.name != "data"}
    assert panels["measure"] == panels["tier"] == help_panels.AIM
    assert panels["trees"] == help_panels.RANKER
    assert panels["validation"] == help_panels.DATA
    assert panels["out"] == help_panels.RESULT
    assert panels["checkpoint"] == help_panels.RUN
    evaluate = {one.name: one.rich_help_panel for one in group.commands["evaluate"].params}
    assert evaluate["measure"] == help_panels.MEASURING, "where nothing is trained, a measure measures"
    named = [name for names in help_panels.PANELS.values() for name in names]
    known = {one.name for command in group.commands.values() for one in command.params}
    assert len(named) == len(set(named))
    assert set(named) <= known
