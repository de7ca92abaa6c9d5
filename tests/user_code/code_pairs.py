"""Random pairs of modules that a user may write: an original and an edit, and whether the edit matters."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import NamedTuple

IDENTITIES = """
import json, sys
from rankforce.user_code.code_identity import CodeIdentity
found = []
for source in json.load(sys.stdin):
    module = {"__name__": "user"}
    exec(compile(source, "<user>", "exec"), module)
    identity = CodeIdentity.of(module["target"], "target")
    found.append([identity.content, identity.parts])
json.dump(found, sys.stdout)
"""


class Pair(NamedTuple):
    edit: str  # what was edited
    original: str
    edited: str
    same: bool


def identities(sources, hash_seed):
    """The identity of ``target`` in each source, found by a process with this seed of hashing."""
    process = subprocess.run(
        [sys.executable, "-c", IDENTITIES],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def number(rng):
    return rng.choice(
        [
            str(rng.randrange(1, 300)),
            repr(round(rng.uniform(-9, 9), 3)),
            repr(rng.uniform(0, 1e-6)),
            f"{rng.randrange(9)}j",
        ]
    )


def value(rng):
    """The source of a value: a number, text, or several in a container or an array."""
    items = ", ".join(dict.fromkeys(number(rng) for _ in range(rng.randrange(2, 5))))
    words = ", ".join(dict.fromkeys(repr(rng.choice("abcdefgh") * rng.randrange(1, 4)) for _ in range(4)))
    return rng.choice(
        [
            number(rng), repr(rng.choice(["up", "down", "äöü", ""])), f"({items},)", f"[{items}]", f"{{{words}}}",
            f"frozenset([{words}])", f"dict(k=[{items}], m={number(rng)})", f"np.array([{items}])",
            f"np.float32({rng.random()!r})", rng.choice(["True", "None", "b'raw'"]),
        ]
    )  # fmt: skip


def another(rng, old, draw=value):
    """A value of another meaning than ``old``."""
    while True:
        new = draw(rng)
        if repr(meaning(new)) != repr(meaning(old)):
            return new


def meaning(source):
    import numpy as np

    evaluated = eval(source, {"np": np})  # a value of this file's own making
    if isinstance(evaluated, (set, frozenset)):
        return type(evaluated), sorted(evaluated)
    if isinstance(evaluated, np.ndarray):
        return evaluated.dtype, evaluated.tolist()
    return type(evaluated), evaluated


def drawn(rng):
    """The places of a module that can be edited, each with what stands there."""
    places = {
        name: value(rng) for name in ("global", "closure", "default", "keyword", "attribute", "member", "argument")
    }
    places |= {name: number(rng) for name in ("constant", "helper", "nested", "method", "base")}
    places["operator"] = rng.choice("+-*")
    return places | {"comment": "", "docstring": "a docstring", "other": value(rng), "lines": "", "local": "x"}


def written(places, kind, shape):
    """A module with these places; ``kind`` is what the target is, ``shape`` how its function is built."""
    p = places
    loop = {
        "plain": f"    {p['local']} = scores {p['operator']} {p['constant']}\n",
        "branch": f"    {p['local']} = scores {p['operator']} ({p['constant']} if scores is not None else 0)\n",
        "try": f"    try:\n        {p['local']} = scores {p['operator']} {p['constant']}\n"
        f"    except ZeroDivisionError:\n        {p['local']} = 0\n",
        "loop": f"    for {p['local']} in [scores {p['operator']} {p['constant']}]:\n        pass\n",
    }[shape]
    source = f"""import functools
import numpy as np
{p["lines"]}{p["comment"]}
OTHER = {p["other"]}
GLOBAL = {p["global"]}
def helper(x):
    return x * {p["helper"]}
class Base:
    def based(self):
        return {p["base"]}
class Own(Base):
    member = {p["member"]}
    def __init__(self):
        self.attribute = {p["attribute"]}
    def __call__(self, x):
        '''{p["docstring"]}'''
        return super().based(), self.attribute, self.member, {p["method"]}
def made(closure):
    def function(scores, default={p["default"]}, *, keyword={p["keyword"]}):
        '''{p["docstring"]}'''
        {p["comment"]}
    {loop.replace(chr(10), chr(10) + "    ").rstrip()}
        def nested(y):
            return y, {p["nested"]}, closure
        return helper({p["local"]}), GLOBAL, default, keyword, nested, Own()
    return function
function = made({p["closure"]})
"""
    target = {
        "function": "function",
        "partial": f"functools.partial(function, default={p['argument']})",
        "cached": f"functools.partial(functools.lru_cache(function), {p['argument']})",
        "method": f"functools.partial(Own().__call__, ({p['argument']}, function))",
        "object": f"[Own(), function, {p['argument']}]",
        "lambda": f"lambda scores: function(scores, {p['argument'] if p['argument'][0] not in '{[' else '0'})",
    }[kind]
    return source + f"target = {target}\n"


def edits_of(kind):
    """The edits that matter to a target of this kind, and those that do not."""
    inner = ["global", "closure", "default", "keyword", "attribute", "member", "constant", "helper", "nested", "method"]
    mattering = [*inner, "base", "operator"]
    if kind in ("partial", "cached", "method", "object"):
        mattering.append("argument")
    return mattering, ["comment", "docstring", "other", "lines", "local"]


def pair(rng):
    """An original and an edit of it."""
    kind = rng.choice(["function", "partial", "cached", "method", "object", "lambda"])
    shape = rng.choice(["plain", "branch", "try", "loop"])
    places = drawn(rng)
    mattering, idle = edits_of(kind)
    same = rng.random() < 0.4
    edit = rng.choice(idle if same else mattering)
    new = {
        "comment": "# said anew: " + "x" * rng.randrange(1, 30),
        "docstring": rng.choice(["said anew", "longer " * 20]),
        "lines": "\n" * rng.randrange(1, 400) + "import math\n",
        "local": rng.choice(["y", "result", "scored"]),
        "operator": another(rng, repr(places["operator"]), lambda rng: repr(rng.choice("+-*"))).strip("'"),
    }.get(edit)
    if new is None:
        numbers = ("constant", "helper", "nested", "method", "base")
        new = another(rng, places[edit], number if edit in numbers else value)
    return Pair(
        f"{edit} of {kind}, {shape}", written(places, kind, shape), written(places | {edit: new}, kind, shape), same
    )


def check_pairs(count, seed):
    """Identities are equal exactly where an edit does not matter, and the same in processes that hash differently."""
    rng = random.Random(seed)
    pairs = [pair(rng) for _ in range(count)]
    sources = [source for one in pairs for source in (one.original, one.edited)]
    found = identities(sources, hash_seed=1)
    again = identities(sources, hash_seed=2)
    for place, one in enumerate(pairs):
        original, edited = found[2 * place], found[2 * place + 1]
        assert original == again[2 * place], f"{one.edit}: hashing matters\n{one.original}"
        assert (original == edited) is one.same, f"{one.edit}\n{one.original}\n--- edited\n{one.edited}"
    return count
