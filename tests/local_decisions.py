"""Decisions that a member of a training makes by its own documents alone, found in the source.

Where several train one model, each has some of the queries. A number that is found on a member's own documents (how
many there are, whether any has a weight, the largest label) may decide nothing before it has gone through
``rankforce.collective``: else members take different branches, or one model is not that of one machine.

What is followed, within one function and between the methods of a class:

local arrays
    attributes and methods that are known to hold an entry per document, query or pair (``LOCAL_ARRAYS``), parameters
    that are annotated as arrays, and what NumPy, operators, subscripts and methods make of them
local numbers
    ``n_documents``, ``n_queries``, ``n_pairs``, ``len``, ``size`` and ``shape`` of local arrays, what they are reduced
    to (``any``, ``max``, ``sum``, ``np.count_nonzero`` ...), and arithmetic with these

What is found:

reduced
    a local array that is reduced to one number
condition
    a branch, loop, filter or assertion that depends on a local number
scaled
    a local number that divides, multiplies, or is rounded or compared by ``min`` and ``max``
handed on
    a local number that another function gets

Arguments of the collective's functions are no finding, nor is what one document's or query's entry decides about
itself. Nor is a refusal of what is wrong *somewhere* (``if bad.any(): raise``, ``if not fine.all(): raise``): whoever
sees it ends the training of all, as one machine would. A refusal of what is right nowhere is one: others may have it.

Not seen is what another function makes of a local array, and an array where everybody's is meant (``gathered``): for
these there are crowds that train (``test_collective.py``, ``test_collective_mutants.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

SEAM = {
    "total", "totals", "highest", "anybody", "everybody", "exact_total", "union", "gathered", "first_says",
    "add", "scatter_add", "gather",
}  # fmt: skip
METHODS_OF_A_COLLECTIVE = {"add", "scatter_add", "gather", "highest"}
LOCAL_ARRAYS = {
    "_top_weights", "_weights",
    "active", "all_starts", "better", "by_query", "by_row", "can_score", "clicked", "curvatures", "document_hashes",
    "document_ids", "document_weights", "features", "forces", "kept", "label", "label_order", "labelled", "labels",
    "leaf_of", "normalisers", "of_kept", "order", "outputs", "places", "positions", "probability", "qid",
    "query_hashes", "query_ids", "query_sizes", "query_starts", "query_weights", "row_queries", "rows", "scores",
    "shares", "starts", "targets", "tie_keys", "weight", "weights", "weights_of_queries", "worse", "worth",
}  # fmt: skip
LOCAL_NUMBERS = {"n_documents", "n_queries", "n_pairs"}
SIZES = {"shape", "size", "nbytes"}
REDUCTIONS = {
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "fsum", "max", "mean", "median",
    "min", "nanmax", "nanmean", "nanmin", "nansum", "prod", "ptp", "quantile", "std", "sum", "unique", "var",
}  # fmt: skip
PLAIN_REDUCTIONS = {"all", "any", "max", "min", "sum"}
PASSED_ON = {"abs", "bool", "enumerate", "float", "int", "list", "map", "reversed", "set", "sorted", "tuple", "zip"}
DRAWN = {"uniform", "words"}  # of a random stream: an entry for each hash
MADE = {"arange", "empty", "full", "ones", "zeros"}  # arrays of so many entries
OF_SIZE = {"len", "over_ranges", "range", "slice", "written_size"}  # which take sizes to walk through, or to tell
ROUNDED = {"ceil", "floor", "log", "log2", "max", "min", "round", "sqrt", "bit_length"}

ARRAY, NUMBER = 2, 1  # what an expression is of the own documents; 0: nothing


class Finding(NamedTuple):
    function: str  # with its class
    kind: str
    line: int
    text: str


def local_decisions(source: str) -> list[Finding]:
    """What functions of a module decide by local numbers, in the order of the file."""
    found: list[Finding] = []
    for owner, functions in _owners(ast.parse(source)):
        attributes: dict[str, int] = {}
        scopes = [_Scope(f"{owner}{name}", function, attributes) for name, function in functions]
        while any(scope.learn() for scope in scopes):  # attributes that one method sets are those of the others
            pass
        for scope in scopes:
            found += scope.findings()
    return sorted(set(found), key=lambda one: (one.line, one))


def _owners(tree: ast.Module) -> Iterator[tuple[str, list[tuple[str, ast.FunctionDef]]]]:
    """(prefix of names, functions that share attributes of ``self``)."""
    outside = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    yield "", outside
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield f"{node.name}.", [(one.name, one) for one in node.body if isinstance(one, ast.FunctionDef)]


class _Scope:
    """One function, with those that are defined inside it."""

    def __init__(self, name: str, function: ast.FunctionDef, attributes: dict[str, int]) -> None:
        self.name, self.function, self.attributes = name, function, attributes
        self.names: dict[str, int] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.arguments):
                for one in [*node.posonlyargs, *node.args, *node.kwonlyargs]:
                    if one.annotation is not None and "np.ndarray" in ast.unparse(one.annotation):
                        self.names[one.arg] = ARRAY

    def learn(self) -> bool:
        """Note what names and attributes hold; whether anything is new."""
        before = dict(self.names), dict(self.attributes)
        for node in ast.walk(self.function):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self._assign(target, node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                self._assign(node.target, node.iter)
            elif isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not self.function:
                self.names |= dict.fromkeys(_appended_to(node), ARRAY)
        return before != (self.names, self.attributes)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
            if len(parts) == len(target.elts):
                for one, part in zip(target.elts, parts, strict=True):
                    self._assign(one, part)
            return
        if isinstance(target, ast.Starred):
            target = target.value
        local = self.local(value)
        if isinstance(target, ast.Name):
            self.names[target.id] = max(local, self.names.get(target.id, 0))
        elif isinstance(target, ast.Attribute) and _is_self(target.value):
            self.attributes[target.attr] = max(local, self.attributes.get(target.attr, 0))

    def local(self, node: ast.AST) -> int:
        """Whether an expression is an array or a number of the own documents."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, 0)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node)
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.Subscript):
            return self.local(node.value)
        if isinstance(node, ast.Compare) and _is_about_absence(node):
            return 0
        if isinstance(node, (ast.Lambda, ast.JoinedStr, ast.Dict, ast.DictComp)):
            return 0
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return ARRAY if self.local(node.elt) or any(self.local(part.iter) for part in node.generators) else 0
        if isinstance(node, ast.expr):
            return max((self.local(child) for child in ast.iter_child_nodes(node)), default=0)
        return 0

    def _of_attribute(self, node: ast.Attribute) -> int:
        if _is_self(node.value) and self.attributes.get(node.attr):
            return self.attributes[node.attr]
        if node.attr in LOCAL_NUMBERS:
            return NUMBER
        if node.attr in SIZES:
            return min(NUMBER, self.local(node.value))
        if node.attr in LOCAL_ARRAYS and not _is_module(node.value):
            return ARRAY
        return self.local(node.value) if node.attr in ("T", "real") else 0

    def _of_call(self, node: ast.Call) -> int:
        if is_shared(node):
            return 0
        name = _called(node)
        given = max((self.local(one) for one in _arguments(node)), default=0)
        if isinstance(node.func, ast.Name):
            if name == "len" or name in PLAIN_REDUCTIONS:
                return min(NUMBER, given)
            return given if name in PASSED_ON else ARRAY if name in LOCAL_ARRAYS else 0
        if not isinstance(node.func, ast.Attribute):
            return 0
        if _is_module(node.func.value):
            if name in MADE:
                return ARRAY if given else 0
            return min(NUMBER, given) if name in REDUCTIONS and not _by_row(node) else given
        if name in LOCAL_ARRAYS:
            return ARRAY
        if name in DRAWN and given:
            return ARRAY
        own = self.local(node.func.value)
        return min(NUMBER, own) if name in REDUCTIONS and not _by_row(node) else own

    def findings(self) -> Iterator[Finding]:
        for node in self._outside_the_seam(self.function):
            if isinstance(node, ast.Call) and self._reduces(node):
                yield self._found("reduced", node)
            elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)) and self._decides(node.test):
                yield self._found("condition", node.test)
            elif isinstance(node, ast.comprehension):
                for test in node.ifs:
                    if self._decides(test):
                        yield self._found("condition", test)
            elif self._scales(node):
                yield self._found("scaled", node)
            elif isinstance(node, ast.Call) and self._hands_on(node):
                yield self._found("handed on", node)

    def _found(self, kind: str, node: ast.AST) -> Finding:
        return Finding(self.name, kind, node.lineno, ast.unparse(node))  # type: ignore[attr-defined]

    def _reduces(self, node: ast.Call) -> bool:
        name = _called(node)
        if isinstance(node.func, ast.Name):
            if name == "map" and isinstance(node.args[0], ast.Name) and node.args[0].id in PLAIN_REDUCTIONS:
                return self.local(node.args[1]) == ARRAY
            return name in PLAIN_REDUCTIONS and any(self.local(one) == ARRAY for one in node.args)
        if not isinstance(node.func, ast.Attribute) or name not in REDUCTIONS or _by_row(node):
            return False
        given = node.args[0] if _is_module(node.func.value) and node.args else node.func.value
        return self.local(given) == ARRAY

    def _decides(self, test: ast.expr) -> bool:
        """Whether a condition depends on a local number, or on whether a local array is empty."""
        if is_shared(test):
            return False
        if isinstance(test, (ast.BoolOp, ast.UnaryOp)):
            return any(self._decides(child) for child in ast.iter_child_nodes(test) if isinstance(child, ast.expr))
        if isinstance(test, ast.Compare) and _is_about_absence(test):
            return False
        return any(
            self.local(node) == NUMBER or (node is test and self.local(node))
            for node in self._outside_the_seam(test)
            if isinstance(node, ast.expr)
        )

    def _outside_the_seam(self, node: ast.AST) -> Iterator[ast.AST]:
        """A node and all below it, without what is handed to the collective, and without refusals of what is wrong."""
        yield node
        for child in ast.iter_child_nodes(node):
            if is_shared(child) or isinstance(child, ast.Raise):
                continue
            if isinstance(child, ast.If) and self._refuses_what_is_wrong(child):
                continue
            yield from self._outside_the_seam(child)

    def _refuses_what_is_wrong(self, node: ast.If) -> bool:
        return not node.orelse and isinstance(node.body[-1], ast.Raise) and self._is_wrong_somewhere(node.test)

    def _is_wrong_somewhere(self, test: ast.expr) -> bool:
        """``x.any()``, ``not x.all()``, ``len(x)``, several of these, or something beside them that is not local."""
        if isinstance(test, ast.BoolOp):
            return all(map(self._is_wrong_somewhere, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call):
            return _called(test.operand) == "all" or not self._decides(test)
        if isinstance(test, ast.Call) and _called(test) in ("any", "len"):
            return True
        return not self._decides(test)

    def _hands_on(self, node: ast.Call) -> bool:
        """Whether a local number goes to a function that may decide something by it."""
        known = isinstance(node.func, ast.Name) and _called(node) in PASSED_ON | PLAIN_REDUCTIONS | OF_SIZE
        if (
            known
            or (isinstance(node.func, ast.Attribute) and _is_module(node.func.value))
            or _called(node) in REDUCTIONS
        ):
            return False
        of_array = isinstance(node.func, ast.Attribute) and self.local(node.func.value) == ARRAY
        return not of_array and any(self.local(one) == NUMBER for one in _arguments(node))

    def _scales(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod, ast.Mult, ast.Pow)):
            return NUMBER in (self.local(node.left), self.local(node.right))
        if isinstance(node, ast.Call) and _called(node) in ROUNDED:
            return any(self.local(one) == NUMBER for one in [*node.args, getattr(node.func, "value", node)])
        return False


def is_shared(node: ast.AST) -> bool:
    """Whether this is a call of the collective's, whose arguments are everybody's own."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in SEAM - METHODS_OF_A_COLLECTIVE | {"highest"}
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in METHODS_OF_A_COLLECTIVE:
        return False
    return ast.unparse(node.func.value) in ("collective()", "members", "self.members", "self._members")


def _is_about_absence(node: ast.Compare) -> bool:
    return all(isinstance(one, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for one in node.ops)


def _by_row(node: ast.Call) -> bool:
    """Whether there is a number per document left."""
    return any(one.arg == "axis" and ast.unparse(one.value) == "1" for one in node.keywords)


def _appended_to(function: ast.AST) -> set[str]:
    """Lists that a function for a range of documents or queries adds its part to."""
    calls = [one.func for one in ast.walk(function) if isinstance(one, ast.Call) and _called(one) == "append"]
    return {one.value.id for one in calls if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(one.value for one in node.keywords)]


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "math", "dtypes")
