"""Vespa's ranking expressions, as far as models are written in them: read strictly, computed in double."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated
from rankforce.models.expected_grade import logistic

# Names with a meaning of their own in expressions: a feature cannot be called so.
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "if": (3, np.where),
    "isNan": (1, np.isnan),
    "tanh": (1, np.tanh),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "sigmoid": (1, logistic),
    "max": (2, np.maximum),
}
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?)|([A-Za-z_]\w*)|(>=|[-+*/(),<!]))")
_FUNCTION = re.compile(r"    function (\w+)\(\) \{\n        expression \{\n(.*?)\n        \}\n    \}\n", re.DOTALL)
_PROFILE = re.compile(
    r"rank-profile (\w+) inherits default \{\n(.*)    first-phase \{\n        expression: (\w+)\(\)\n    \}\n\}\n",
    re.DOTALL,
)

Evaluated = Callable[["_Rows"], Any]


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedProfile(Emulated):
    """The functions of a profile, each computed once for all rows."""

    functions: Mapping[str, Evaluated]
    score: str

    def scores(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = _Rows(rows.astype(np.float64), self.functions, {}).function(self.score)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), (len(rows),)).copy()


@dataclasses.dataclass(frozen=True, eq=False)
class _Rows:
    rows: np.ndarray
    functions: Mapping[str, Evaluated]
    known: dict[str, Any]

    def function(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = self.functions[name](self)
        return self.known[name]


def read_profile(text: str, columns: Mapping[str, int]) -> EmulatedProfile:
    """A ``.profile`` file as it is written here; a function may only call those before it."""
    matched = _PROFILE.fullmatch(text)
    if matched is None:
        raise ModelFileError("the file is no rank profile of functions and a first phase")
    functions: dict[str, Evaluated] = {}
    if _FUNCTION.sub("", matched[2]) != "":
        raise ModelFileError("the profile has more than functions")
    for one in _FUNCTION.finditer(matched[2]):
        functions[one[1]] = _Parser(one[2], columns, tuple(functions)).whole()
    if matched[3] not in functions:
        raise ModelFileError(f"the first phase calls {matched[3]!r}, which is no function")
    return EmulatedProfile(functions, matched[3])


class _Parser:
    """Sums of products of values, by recursion into parentheses only."""

    def __init__(self, text: str, columns: Mapping[str, int], functions: tuple[str, ...]) -> None:
        self._text = text
        self._at = 0
        self._columns = columns
        self._functions = functions

    def whole(self) -> Evaluated:
        found = self._sum()
        if self._text[self._at :].strip():
            self._fail()
        return found

    def _fail(self) -> Any:
        raise ModelFileError(f"not an expression that is understood: {self._text[self._at : self._at + 60]!r}")

    def _peek(self) -> str:
        matched = _TOKEN.match(self._text, self._at)
        return "" if matched is None else matched[0].strip()

    def _take(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._at = _TOKEN.match(self._text, self._at).end()  # type: ignore[union-attr]
        return True

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            self._fail()

    def _sum(self) -> Evaluated:
        terms = [(1, self._product())]
        while True:
            if self._take("+"):
                terms.append((1, self._product()))
            elif self._take("-"):
                terms.append((-1, self._product()))
            else:
                return _summed(terms)

    def _product(self) -> Evaluated:
        left = self._value()
        while True:
            if self._take("*"):
                left = _both(np.multiply, left, self._value())
            elif self._take("/"):
                left = _both(np.divide, left, self._value())
            else:
                return left

    def _condition(self) -> Evaluated:
        if self._take("!"):
            self._need("(")
            inner = self._condition()
            self._need(")")
            return lambda rows: ~inner(rows)
        left = self._sum()
        for sign, compared in (("<", np.less), (">=", np.greater_equal)):
            if self._take(sign):
                return _both(compared, left, self._sum())
        return left  # isNan

    def _value(self) -> Evaluated:
        if self._take("("):
            negative = self._take("-")
            inner = self._sum()
            self._need(")")
            return (lambda rows: -inner(rows)) if negative else inner
        matched = _TOKEN.match(self._text, self._at)
        if matched is None or matched[3]:
            self._fail()
        assert matched is not None
        if matched[1]:
            self._at = matched.end()
            constant = np.float64(matched[1])
            return lambda rows: constant
        return self._named(matched[2])

    def _named(self, word: str) -> Evaluated:
        if word in FUNCTIONS:
            self._take(word)
            self._need("(")
            arguments = [self._condition()]
            while self._take(","):
                arguments.append(self._sum())
            self._need(")")
            count, function = FUNCTIONS[word]
            if len(arguments) != count:
                self._fail()
            return lambda rows: function(*(argument(rows) for argument in arguments))
        rest = self._text[self._at :].lstrip()
        reference = reference_at(rest)
        self._at = len(self._text) - len(rest) + len(reference)
        if reference.endswith("()") and reference[:-2] in self._functions:
            return lambda rows: rows.function(reference[:-2])
        if reference not in self._columns:
            raise ModelFileError(f"there is no feature {reference!r}")
        column = self._columns[reference]
        return lambda rows: rows.rows[:, column]


def _summed(terms: list[tuple[int, Evaluated]]) -> Evaluated:
    if len(terms) == 1:
        return terms[0][1]

    def evaluated(rows: _Rows) -> Any:
        total = terms[0][1](rows)
        for sign, term in terms[1:]:
            total = total + term(rows) if sign > 0 else total - term(rows)
        return total

    return evaluated


def _both(operation: Callable[..., Any], left: Evaluated, right: Evaluated) -> Evaluated:
    return lambda rows: operation(left(rows), right(rows))


def reference_at(text: str) -> str:
    """The rank feature or function that a text begins with: ``bm25(title)``, ``fieldMatch(title).proximity``, ``f()``.

    Empty if it begins with none.
    """
    matched = re.match(r"[A-Za-z_]\w*", text)
    if matched is None:
        return ""
    end = matched.end()
    if text[end : end + 1] == "(":
        depth = 0
        for place in range(end, len(text)):
            depth += (text[place] == "(") - (text[place] == ")")
            if depth == 0:
                end = place + 1
                break
        else:
            return ""
    output = re.match(r"(\.[A-Za-z_]\w*)+", text[end:])
    return text[: end + (0 if output is None else output.end())]
