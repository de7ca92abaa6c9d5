"""The page: one template, filled with style, plotting library, program and contents, under a strict policy.

The browser runs the two scripts whose digests stand in the policy and nothing else, loads nothing and connects to
nothing. Contents are JSON in a script that is no program; the program builds the page out of it with text nodes only.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rankforce.displayed_text import escaped
from rankforce.errors import SettingsError, missing_dependency
from rankforce.files.atomic_writes import atomic_write

PROGRAM = (
    "elements.js",
    "numbers.js",
    "theme.js",
    "charts.js",
    "tables.js",
    "overview.js",
    "measures.js",
    "comparison.js",
    "segments.js",
    "queries.js",
    "query_rankings.js",
    "query_forces.js",
    "query_pair.js",
    "features.js",
    "scores.js",
    "training.js",
    "data.js",
    "start.js",
)  # in the order in which they are joined into one function
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def write(path: Path, contents: Mapping[str, Any]) -> None:
    """Write the page, whole or not at all."""
    text = html_of(contents)
    with atomic_write(path, SettingsError) as file:
        file.write(text.encode("utf-8"))


def html_of(contents: Mapping[str, Any]) -> str:
    """The page as text."""
    style, program = asset("report.css"), joined_program()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {digest(library())} {digest(program)}",
            f"style-src {digest(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "title": html.escape(escaped(str(contents["title"]))),
        "policy": html.escape(policy, quote=True),
        "style": style,
        "contents": contents_as_text(contents),
        "library": library(),
        "program": program,
    }
    pieces = asset("report.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:  # once through the template: what is filled in is not looked at again
        name, _, rest = piece.partition("}}")
        filled.append(parts[name] + rest)
    return "".join(filled)


def contents_as_text(contents: Mapping[str, Any]) -> str:
    """JSON in which nothing can end a script or begin a comment: ``<`` is written as an escape.

    All that is not ASCII is escaped, too: half a surrogate pair in an id could not be written into a file.
    """
    text = json.dumps(contents, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@functools.cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, as the package vl-convert-python bundles them."""
    try:
        import vl_convert
    except ImportError:
        raise missing_dependency("vl-convert-python", "report", "a report") from None
    text = str(vl_convert.javascript_bundle(_SNIPPET))
    return _script("the plotting library", text)


@functools.cache
def joined_program() -> str:
    """The files of the program in one function: their names are known to each other and to nobody else."""
    files = [f"// {name}\n{asset(name)}" for name in PROGRAM]
    return _script("the program", '"use strict";\n(() => {\n' + "\n".join(files) + "})();\n")


@functools.cache
def asset(name: str) -> str:
    return resources.files("rankforce.reporting").joinpath("assets", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """A script or a style as the policy names it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def _script(what: str, text: str) -> str:
    """A text that can stand in a script as it is."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it: the digest is of what they see
    if "</script" in text.lower() or "<!--" in text:
        raise SettingsError(f"{what} cannot stand in a page: it ends a script")
    return text
