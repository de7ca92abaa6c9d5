"""The package as users get it: built, installed away from the sources, run."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
import yaml

import rankforce as rf

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILT = ("src", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")  # what a wheel is made of
SOURCES = REPOSITORY / "src" / "rankforce"
GENERATED = {"__pycache__"}


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command printed; the sources of the repository are not on its path."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist, and with the wheel that is made from it; setuptools leaves its traces in a copy."""
    pytest.importorskip("build", reason="pip install build setuptools")
    pytest.importorskip("setuptools", reason="pip install build setuptools")
    copy = tmp_path_factory.mktemp("copy")
    for name in BUILT:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", copy / "dist", copy, folder=copy)
    return copy / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@pytest.fixture(scope="module")
def clean_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a virtual environment that holds the wheel, and finds all else where it is installed now."""
    pytest.importorskip("pip", reason="python -m ensurepip")
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--no-deps", "--no-index", wheel, folder=folder)
    (packages,) = folder.rglob("site-packages")
    # A plain path: files like that of an editable installation, which lie in it, are not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return programs


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    there = {
        f"rankforce/{path.relative_to(SOURCES).as_posix()}"
        for path in SOURCES.rglob("*")
        if path.is_file() and not GENERATED.intersection(path.parts)
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert {"rankforce/py.typed", "rankforce/__init__.pyi", "rankforce/lambdas/__init__.pyi"} <= packed
    assert sorted(there - packed) == []
    assert sorted(name for name in packed - there if ".dist-info/" not in name) == []


def test_the_sdist_builds_the_same_package(built: Path, wheel: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        modules = {f"src/{name}" for name in archive.namelist() if ".dist-info/" not in name}
    assert modules <= packed
    assert {"pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"} <= packed


def test_the_manifest_names_every_folder_that_is_kept() -> None:
    """An sdist also holds tests, pages and examples: what a distributor wants to check, and a reader to read."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("no git, or no repository")
    kept = {Path(name).parts[0] for name in listing.stdout.split("\0") if "/" in name}
    manifest = (REPOSITORY / "MANIFEST.in").read_text(encoding="utf-8")
    grafted = {Path(name).parts[0] for name in re.findall(r"^graft (\S+)", manifest, flags=re.MULTILINE)}
    assert {name for name in kept if not name.startswith(".")} == grafted


def test_the_installed_command_trains_and_evaluates(clean_environment: Path, tmp_path: Path) -> None:
    where = run(clean_environment / "python", "-c", "import rankforce; print(rankforce.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(clean_environment.parent)
    assert f"{rf.__version__}" in run(clean_environment / "rankforce", "--version", folder=tmp_path)
    assert "train" in run(clean_environment / "rankforce", "--help", folder=tmp_path)
    script = """
from rankforce.cli.application import build
import shlex
for line in '''
generate data.txt --queries 20 --documents 6 --features 3
train data.txt --out model.json --trees 3 --set n_leaves=4 --set min_documents=3
evaluate data.txt model.json -m NDCG@5 -m MAP
'''.strip().splitlines():
    build()(shlex.split(line), prog_name="rankforce", standalone_mode=False)
"""
    (tmp_path / "session.py").write_text(script, encoding="utf-8")
    # Plain kernels: the same files, and nobody waits for a compiler whose cache belongs to another path.
    printed = run(clean_environment / "python", "session.py", folder=tmp_path, NUMBA_DISABLE_JIT="1")
    assert re.search(r"NDCG@5 +0\.\d{4}", printed)
    assert (tmp_path / "model.json").exists()


def test_the_metadata_are_complete(metadata: Message) -> None:
    assert metadata["Name"] == "rankforce"
    assert metadata["Summary"] == PROJECT["description"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    shown = metadata.get_payload(decode=True)
    assert isinstance(shown, bytes)
    assert shown.decode().strip() == (REPOSITORY / "README.md").read_text(encoding="utf-8").strip()
    assert len(metadata["Keywords"].split(",")) >= 5
    assert metadata["Author"]
    assert set(PROJECT["optional-dependencies"]) == set(metadata.get_all("Provides-Extra"))
    for address in metadata.get_all("Project-URL") or ():
        assert re.match(r"[A-Za-z ]+, https://\S+$", address)


def test_classifiers_name_every_python_from_the_oldest(metadata: Message) -> None:
    versions = sorted(
        int(one.rpartition(".")[2])
        for one in metadata.get_all("Classifier")
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", one)
    )
    oldest = int(PROJECT["requires-python"].rpartition(".")[2])
    assert versions == [*range(oldest, versions[-1] + 1)]
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert rf.__version__ == PROJECT["version"] == str(citation["version"])
    assert citation["license"] == PROJECT["license"]
    assert f"## [{rf.__version__}]" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_are_forms(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert isinstance(form["blank_issues_enabled"], bool)
        return
    assert form["name"]
    assert form["description"]
    questions = [part for part in form["body"] if part["type"] != "markdown"]
    assert all(part["attributes"]["label"] for part in questions)
    assert len({part["id"] for part in questions}) == len(questions)


def test_pinned_versions_are_allowed_ones() -> None:
    """constraints.txt has everything that pyproject.toml asks for in development, and nothing below its floor."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    pins = dict(line.split("==") for line in (REPOSITORY / "constraints.txt").read_text().splitlines() if "==" in line)
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    extras = PROJECT["optional-dependencies"]
    ours = Requirement(extras["dev"][0])  # rankforce with the extras that development needs
    wanted = [*PROJECT["dependencies"], *(text for name in (*ours.extras, "dev") for text in extras[name])]
    for requirement in map(Requirement, wanted):
        if requirement.name != "rankforce":
            assert canonicalize_name(requirement.name) in pinned, f"{requirement.name} is not in constraints.txt"
            assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), str(requirement)
