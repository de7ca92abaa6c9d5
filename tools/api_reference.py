"""The reference of Python, from the names, signatures and docstrings that there are.

Public names are loaded on first use, and settings of rankers and measures are fields of their classes: what reads
sources alone sees neither. So the package is asked itself. `make docs` puts the pages into the site; nothing of them is
kept in the repository.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import rankforce as rf
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.measures.catalogue import measure_classes
from rankforce.rankers.catalogue import ranker_classes
from rankforce.training.ranker import Ranker

WIDEST = 96  # characters of a signature in one line


class Subject(NamedTuple):
    """A page of the reference: its names, most important first."""

    title: str
    guide: str  # links to what explains it
    names: tuple[str, ...]


def subjects() -> dict[str, Subject]:
    """Every page by its file name."""
    return {
        "data": Subject(
            "Data",
            "[Data](../data.md), [columns](../columns.md), [large data](../large_data.md), [drift](../drift.md)",
            _words("""Dataset read read_letor read_table read_folds read_qrels read_run write_run judged_run
                   JudgedRun Preferences read_preferences consistent_posteriors read_feature_log FeatureLog bin
                   BinnedDataset shared SharedDataset make_artificial make_web_like confuse_labels
                   confusion_from_repeats inspect Inspection drift Drift"""),
        ),
        "evaluation": Subject(
            "Measures and evaluation",
            "[Measures](../measures.md), [evaluating and comparing](../evaluation.md)",
            (
                *_words("evaluate compare Evaluation Comparison Leaderboard measure Measure BinaryMeasure"),
                *(name for name in sorted(measure_classes()) if name in dir(rf)),
            ),
        ),
        "rankers": Subject(
            "Rankers and objectives",
            "[Rankers](../rankers.md), [nets](../nets.md), [objectives](../objectives.md), [tuning](../tuning.md)",
            (
                *_first("LambdaMART LambdaRank RankNet MART", [*ranker_classes()]),
                *_words("Graded Scheduled Term read_objective search_weights"),
                *_all_of("schedules"),
                *_words("cross_validate CrossValidation tune Tuning"),
                *_all_of("optimising"),
            ),
        ),
        "clicks": Subject(
            "Clicks",
            "[Labels from clicks](../clicks.md), [without their bias](../unbiased.md), "
            "[off-policy evaluation](../off_policy.md)",
            (
                *_words("""click_labels ClickLabels SimilarQueries click_sessions estimate_propensities Propensities
                        InversePropensities JointRatios simulate_clicks SimulatedClicks off_policy
                        OffPolicyEvaluation"""),
                *_all_of("click_models"),
            ),
        ),
        "models": Subject(
            "Models, export, combining",
            "[Export](../export.md), [model files](../model_format.md), [combining](../combining.md), "
            "[migration](../migration.md)",
            _words("""Model load model_card ModelCard export_model export_bundle Exported ExportedBundle ExportCheck
                   combine Combined RankforceError DataError FileFormatError MeasureError SettingsError
                   ModelFileError NotFittedError ClusterError MissingDependencyError RankforceWarning TrainingWarning
                   MigrationWarning"""),
        ),
        "looking": Subject(
            "Explaining, reports, pictures",
            "[Explaining](../explaining.md), [a report](../report.md), [pictures](../plots.md), "
            "[local optimality](../optimality.md)",
            (
                *_words("explain importance Contributions DocumentExplanation PairExplanation FeatureImportance"),
                *_words("report Report"),
                "forces_at",
                *_all_of("diagnostics"),
                *_all_of("plot"),
            ),
        ),
        "lambdas": Subject(
            "λ-functions",
            "[λ-functions](../lambdas.md), [extending](../extending.md)",
            (*_all_of("lambdas"), *(f"lambdas.{name}" for name in sorted(lambda_function_classes()))),
        ),
    }


def public_names() -> set[str]:
    """Every name that the reference has to explain, without ``rf.``."""
    own = set(dir(rf)) - {"__version__", *rf.SUBPACKAGES}
    of_subpackages = {
        f"{package}.{name}"
        for package in rf.SUBPACKAGES
        for name in dir(getattr(rf, package))
        if name in getattr(rf, package).__all__ or package == "lambdas"
    }
    return own | of_subpackages


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _first(text: str, names: list[str]) -> tuple[str, ...]:
    first = _words(text)
    return (*first, *(name for name in names if name not in first))


def _all_of(package: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in getattr(rf, package).__all__)


# -------------------------------------------------------------------------------------------------------------- pages


def addresses() -> dict[str, str]:
    """Where each name is explained, from the root of the site: ``evaluate`` -> ``api/evaluation.md#evaluate``."""
    return {name: f"api/{page}.md#{name}" for page, subject in subjects().items() for name in subject.names}


def pages() -> dict[str, str]:
    """Markdown of the whole reference by file name."""
    found = subjects()
    written = {f"{page}.md": page_of(subject) for page, subject in found.items()}
    return {"index.md": overview(found)} | written


def overview(found: dict[str, Subject]) -> str:
    parts = [
        "# Python",
        "",
        "`import rankforce as rf`. Everything public is here, with the signatures and docstrings of the version that "
        "this site was built from; `help(rf.evaluate)` shows the same.",
    ]
    for page, subject in found.items():
        parts += ["", f"## {subject.title}", "", "| | |", "|---|---|"]
        parts += [
            f"| [`rf.{name}`]({page}.md#{name}) | {_cell(first_sentence(resolved(name)))} |" for name in subject.names
        ]
    return "\n".join([*parts, ""])


def page_of(subject: Subject) -> str:
    parts = [f"# {subject.title}", "", f"Guides: {subject.guide}.", ""]
    for name in subject.names:
        parts += entry(name)
    if "LambdaMART" in subject.names:
        parts += shared("What all rankers have", "all-rankers", Ranker)
    return "\n".join(parts)


def resolved(name: str) -> Any:
    value: Any = rf
    for part in name.split("."):
        value = getattr(value, part)
    return value


def entry(name: str) -> list[str]:
    """Heading, signature, docstring; of a class also what it adds to the classes that are explained elsewhere."""
    value = resolved(name)
    parts = [f"### rf.{name} {{ #{name} .api }}", ""]
    if inspect.isclass(value) and issubclass(value, Exception):
        return [*parts, *documented(value), ""]
    parts += ["```python", signature(f"rf.{name}", value), "```", "", *documented(value), ""]
    if inspect.isclass(value):
        for member_name, member in own_members(name, value):
            parts += member_entry(name, member_name, member)
        if issubclass(value, Ranker):
            parts += ["See also [what all rankers have](#all-rankers): `predict`, `rank`, `score`, `save`, ...", ""]
    return parts


def shared(title: str, anchor: str, kind: type) -> list[str]:
    parts = [f"### {title} {{ #{anchor} .api }}", ""]
    for name, member in members(kind):
        parts += member_entry(anchor, name, member)
    return parts


def member_entry(owner: str, name: str, member: Any) -> list[str]:
    anchor = f"{{ #{owner}.{name} }}"
    if isinstance(member, property):
        return [f"#### .{name} {anchor}", "", *documented(member.fget), ""]
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    shown = signature(f".{name}", function, bound=not isinstance(member, staticmethod))
    return [f"#### .{name}() {anchor}", "", "```python", shown, "```", "", *documented(function), ""]


def own_members(name: str, kind: type) -> Iterator[tuple[str, Any]]:
    """Members that are explained with this class, and not with all of its kind."""
    if kind.__name__ in measure_classes() or kind.__name__ in lambda_function_classes():
        return
    shared_names = {member for member, _ in members(Ranker)} if issubclass(kind, Ranker) else set()
    for member_name, member in members(kind):
        if member_name not in shared_names or member_name in vars(kind):
            yield member_name, member


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a docstring that the package itself defines, in the order of their names."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("rankforce"):
            found |= vars(base)
    for name, member in sorted(found.items()):
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        function = function.fget if isinstance(function, property) else function
        if not name.startswith("_") and inspect.isfunction(function) and inspect.getdoc(function):
            yield name, member


# --------------------------------------------------------------------------------------------- signatures, docstrings


def signature(name: str, function: Any, *, bound: bool = False) -> str:
    """A call as it is declared, on one line or on one per parameter."""
    found = inspect.signature(function)
    parameters = [*found.parameters.values()][int(bound) :]
    texts: list[str] = []
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        starred |= parameter.kind is parameter.VAR_POSITIONAL
        texts.append(_parameter(parameter))
    returned = "" if found.return_annotation in (found.empty, "None", None) else f" -> {_kind(found.return_annotation)}"
    line = f"{name}({', '.join(texts)}){returned}"
    if len(line) <= WIDEST:
        return line
    return "\n".join([f"{name}(", *(f"    {text}," for text in texts), f"){returned}"])


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    declared = parameter.annotation is not parameter.empty and parameter.annotation not in ("Any", Any)
    if declared:
        text += f": {_kind(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = repr(parameter.default)
        default = "..." if "<" in default or len(default) > 40 else default  # an object whose repr is an address
        text += f" = {default}" if declared else f"={default}"
    return text


def _kind(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace('"', "'") if text.startswith('"') else text


SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def documented(value: Any) -> list[str]:
    """A docstring as Markdown: sections of parameters become lists."""
    text = inspect.getdoc(value) or ""
    pieces = SECTION.split(text)
    parts = [_prose(pieces[0])]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if title in ("Parameters", "Attributes", "Returns"):
            parts += ["", f"**{title}**", "", *_definitions(body.strip("\n"))]
        else:
            parts += ["", f"**{title}**", "", _prose(body)]
    return parts


def _definitions(body: str) -> list[str]:
    """``name : kind`` with indented lines below, or ``name : what it is``."""
    parts: list[str] = []
    for item in re.split(r"\n(?=\S)", body):
        head, _, rest = item.partition("\n")
        names, colon, kind = head.partition(" : ")
        if not re.fullmatch(r"\*{0,2}[\w, *]+", names):
            parts += [_prose(item), ""]
            continue
        shown = ", ".join(f"`{name.strip()}`" for name in names.split(","))
        described = _prose(textwrap.dedent(rest)) if rest.strip() else ""
        parts += [f"- {shown}" + (f" — {_prose(kind)}" if colon else ""), ""]
        parts += [textwrap.indent(described, "    "), ""] if described else []
    return parts


def _prose(text: str) -> str:
    """reStructuredText as docstrings here use it: double backticks, and code after a double colon."""
    text = re.sub(r"``(.+?)``", r"`\1`", text.strip("\n"), flags=re.DOTALL)
    text = re.sub(r"::(\n\n +)", r":\1", text)
    outside = re.split(r"(`[^`]*`)", text)
    outside[::2] = [re.sub(r"(?<=\S)\*(?=\S)|<", lambda found: "\\" + found[0], piece) for piece in outside[::2]]
    return "".join(outside)


def first_sentence(value: Any) -> str:
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return _prose(re.split(r"(?<=[.!?:;])\s", text + " ")[0].rstrip(":;"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
