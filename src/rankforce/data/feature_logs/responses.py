"""Search responses out of files: one JSON document per file, or one per line; also responses given in Python."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.errors import DataError, FileFormatError
from rankforce.files.decompression import lines, opened
from rankforce.files.streams import file_name
from rankforce.kinds import shown

_WANTED = (
    "a feature log is a file of search responses as JSON (one per file, or one per line), several such files, or "
    "responses by query id: {'q1': response, ...}"
)


def records(source: Any) -> Iterator[tuple[str | None, JsonNode]]:
    """(query id, if the source itself says it; what stands there), file by file and line by line.

    A record is a response, or an object that holds one under ``response`` beside what is known of its request.
    """
    if isinstance(source, (str, os.PathLike)):
        yield from _from_file(Path(file_name(source)))
    elif isinstance(source, Mapping):
        for query, response in source.items():
            name = JsonNode(query, key="query id").identifier()
            for node in _unpacked(JsonNode(_plain(response), key=f"query {name!r}")):
                yield name, node
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, np.ndarray)):
        for index, one in enumerate(source):
            if isinstance(one, (str, os.PathLike)):
                yield from _from_file(Path(file_name(one)))
            elif isinstance(_plain(one), dict):
                yield from ((None, node) for node in _unpacked(JsonNode(_plain(one), key=f"record {index}")))
            else:
                raise DataError(f"{_WANTED}, not a list with {shown(one)}")
    else:
        raise DataError(f"{_WANTED}, not {shown(source)}")


def _plain(response: Any) -> Any:
    """A response as a dict: clients wrap it, with its ``body`` inside."""
    body = getattr(response, "body", response)
    return dict(body) if isinstance(body, Mapping) else response


def _unpacked(node: JsonNode) -> Iterator[JsonNode]:
    """A list of responses, as multi-search gives it, one by one."""
    if isinstance(node.value, list):
        for element in node.elements():
            yield from _unpacked(element)
    elif isinstance(node.value, dict) and "responses" in node.value:
        yield from node["responses"].elements()
    else:
        yield node


def _from_file(path: Path) -> Iterator[tuple[str | None, JsonNode]]:
    found = False
    for line, value in _documents(path):
        for node in _unpacked(JsonNode(value, str(path), line)):
            found = True
            yield None, node
    if not found:
        raise FileFormatError("the file holds no response", path=path, remedy=_WANTED)


def _documents(path: Path) -> Iterator[tuple[int | None, Any]]:
    """(line, value): JSON lines if the first line is a whole value, else the one document that the file is."""
    numbered = text_lines(path)
    first_line, first = next(numbered, (1, ""))
    if not first:
        return
    try:
        value = _parsed(first)
    except ValueError:
        text = first + "".join(text for _, text in numbered)
        yield None, _value(text, path, first_line, whole=True)
        return
    yield first_line, value
    for line, text in numbered:
        yield line, _value(text, path, line, whole=False)


def _value(text: str, path: Path, line: int, *, whole: bool) -> Any:
    try:
        return _parsed(text)
    except json.JSONDecodeError as error:
        place = line + error.lineno - 1 if whole else line
        remedy = "one response per file, or one per line; is the file complete?"
        raise FileFormatError(
            f"not JSON: {error.msg}", path=path, line=place, column=error.colno, remedy=remedy
        ) from None
    except ValueError as error:
        raise FileFormatError(f"not JSON: {error}", path=path, line=line) from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line from 1, text) of every line that is not blank; what keeps a file from being read is told."""
    line = 0
    try:
        with opened(path) as file:
            for content in lines(file, path):
                line += 1
                text = content.decode("utf-8-sig" if line == 1 else "utf-8")
                if text.strip():
                    yield line, text
    except UnicodeDecodeError:
        remedy = "is it compressed, or in another encoding?"
        raise FileFormatError("not UTF-8 text", path=path, line=line, remedy=remedy) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        remedy = "copy or compress it again"
        raise FileFormatError("the compressed file is damaged or cut off", path=path, remedy=remedy) from None
    except IsADirectoryError:
        raise FileFormatError("this is a directory", path=path, remedy="name the files in it") from None
    except FileNotFoundError:
        raise FileFormatError("there is no such file", path=path) from None
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from None
