"""What a user is told whose measure or λ-function cannot be compiled: Numba's page of text in a few lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce.errors import RankforceError

ALLOWED = (
    "a method is compiled: it may use numbers, arrays, loops, functions of math and NumPy, and the class's own numeric "
    "fields; value and normaliser return a number, pair_of_gap a force and a curvature, forces nothing"
)

# Lines of Numba's that say how it came to the cause, not what it is.
_ON_THE_WAY = re.compile(
    r"(TypingError: )?(Failed in nopython mode pipeline|- Resolution failure|There are \d+ candidate|- Of which \d+ did"
    r"|Overload (in|of) function|With argument\(s\)|Rejected as the implementation|During: |raised from|No match\."
    r"|None$|No implementation of function Function\(<function|>>> )"
)
_CALL = re.compile(r">>> (?P<method>\w+)\((?P<owner>.+?)\.Kernel\(")
_PLACE = re.compile(r'File "(?P<file>.+?)", line (?P<line>\d+)')
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Numba paints its messages where colorama is installed
_IN_KERNELS = re.compile(r"\bkernels[/\\]")


def explained(error: Exception, classes: Sequence[Any]) -> RankforceError:
    """The error to raise for a failure to compile; ``classes`` are the users' kernel tuples that were involved."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    at = next((place for place, line in enumerate(lines) if not _ON_THE_WAY.match(line)), None)
    if at is None or _PLACE.match(lines[at]):  # nothing but calls that did not fit: the innermost says most
        at = max((place for place, line in enumerate(lines) if line.startswith(">>> ")), default=0)
    calls = [call for line in lines[: at + 1] if (call := _CALL.match(line))]
    names = {f"{owner.__module__}.{owner.__qualname__.removesuffix('.Kernel')}": owner for owner in classes}
    calls = [call for call in calls if call["owner"] in names]
    owners = [names[calls[-1]["owner"]]] if calls else list(names.values())
    subject = " and ".join(owner.__qualname__.removesuffix(".Kernel") for owner in owners)
    methods = [call["method"] for call in calls if hasattr(names[call["owner"]], call["method"])]
    method = None
    if methods:
        subject += f".{methods[-1]}"
        method = getattr(owners[0], methods[-1])
    place = next((match for line in lines[at:] if (match := _PLACE.match(line))), None)
    if place is not None and _IN_KERNELS.search(place["file"]):
        what, where = f"what a method returns does not fit where it is used: {_cause(lines, at)}", ""
    else:
        what, where = _cause(lines, at), "" if method is None else _where(method, place)
    raised: type[RankforceError] = owners[0].ERROR
    return raised(f"{subject} cannot be compiled: {what}{where}\n  {ALLOWED}")


def _where(method: Any, place: re.Match[str] | None) -> str:
    """The file of a method, and the line that Numba names, or else where the method begins."""
    code = method.__code__
    within = place is not None and Path(place["file"]).name == Path(code.co_filename).name
    return f" ({code.co_filename}, line {place['line'] if within and place is not None else code.co_firstlineno})"


def _cause(lines: Sequence[str], at: int) -> str:
    cause = lines[at].removeprefix("TypingError: ").removeprefix(">>> ").removesuffix(". Raised from None")
    if cause.endswith("found for signature:") and at + 1 < len(lines):
        cause = lines[at + 1].removeprefix(">>> ")
    return cause if len(cause) <= 300 else cause[:297] + "..."
