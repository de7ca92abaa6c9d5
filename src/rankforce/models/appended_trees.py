"""Rounds of boosting appended to the file of a checkpoint, so that a long training does not write every tree often.

::

    {"format": "rankforce model", ... "sha256": "..."}         a whole model, as ``storage.py`` writes it
    {"trees": [[...]], "history": {...}, "sha256": "..."}      a line for the next rounds: per output its trees
    {"trees": [[...]], "history": {...}, "sha256": "..."}

The digest of a line is over the digest before it and the line up to its own, so that lines cannot be left out, moved
or brought from elsewhere. A last line that was not written to its end is as good as not there.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from typing import Any

from rankforce.errors import RankforceError
from rankforce.models.json_text import line, refuse_constant
from rankforce.models.model import Model

_TAIL = re.compile(rb', "sha256": "([0-9a-f]{64})"}\n\Z')


def record_of(model: Model, before: str) -> tuple[bytes, str]:
    """The line that appends the trees and the history of ``model`` after the digest ``before``, and its own digest."""
    ensembles = _ensembles({"kind": model.KIND, "contents": model.contents()})
    trees = [ensemble["contents"]["trees"] for ensemble in ensembles]
    body = line({"trees": trees, "history": model.provenance.history})[:-1].encode()
    digest = _digest(before, body)
    return body + f', "sha256": "{digest}"}}\n'.encode(), digest


def may_follow(document: dict[str, Any]) -> bool:
    """Whether records may follow this model: it is the checkpoint of a training of trees."""
    provenance = document.get("provenance")
    settings = provenance.get("settings") if isinstance(provenance, dict) else None
    contents = document.get("contents")
    if not isinstance(settings, dict) or not isinstance(contents, dict):
        return False
    return "checkpoint" in settings and ("trees" in contents or "outputs" in contents)


def extend(document: dict[str, Any], records: bytes, before: str) -> None:
    """Add to the document of a model what the records after its digest ``before`` hold.

    A record that is damaged and not the last one is an error.
    """
    lines = io.BytesIO(records).readlines()
    for number, record in enumerate(lines, start=1):
        tail = _TAIL.search(record)
        body = record[: tail.start()] if tail else b""
        if tail is None or _digest(before, body) != tail[1].decode():
            if number < len(lines):
                raise RankforceError(f"appended record {number} was damaged or edited, and others follow it")
            return
        before = tail[1].decode()
        _add(document, json.loads(body + b"}", parse_constant=refuse_constant), number)


def _add(document: dict[str, Any], record: dict[str, Any], number: int) -> None:
    try:
        history = document["provenance"]["history"]
        for name, values in record["history"].items():
            history.setdefault(name, []).extend(values)
        for ensemble, trees in zip(_ensembles(document), record["trees"], strict=True):
            ensemble["contents"]["trees"].extend(trees)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise RankforceError(f"appended record {number} does not fit the model") from None


def _ensembles(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The sums of trees of a model of one or several outputs."""
    contents = document["contents"]
    return [document] if "trees" in contents else list(contents["outputs"])


def _digest(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()
