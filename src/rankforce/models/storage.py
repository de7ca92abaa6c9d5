"""Model files: one JSON document that says what it is, checks itself and executes nothing.

::

    {"format": "rankforce model",
    "version": 1,
    "kind": "tree ensemble",
    "feature_names": ["bm25", "pagerank"],
    "provenance": {...},
    "contents": {...},
    "sha256": "..."}

The digest is over all bytes before its line. The same model gives the same bytes: keys in a fixed order, every number
in the shortest form that reads back exactly, ``{"float": "nan"}`` (``inf``, ``-inf``) where JSON has no number.
A path that ends in ``.gz`` is compressed (without time and name, so that its bytes repeat too).

To a checkpoint of trees, later rounds are appended (``appended_trees.py``): ``load`` gives the model of all of them.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import importlib
import inspect
import io
import itertools
import json
import pkgutil
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import rankforce.models
from rankforce.displayed_text import displayed_path
from rankforce.errors import ModelFileError, RankforceError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.limits import longest_id
from rankforce.files.streams import file_name
from rankforce.models import appended_trees, tree_ensemble, tree_text
from rankforce.models.file_content import content_of, uncompressed
from rankforce.models.file_versions import LATEST, oldest_version
from rankforce.models.json_text import refuse_constant, revived, text
from rankforce.models.kept_data import read_known_data, written_provenance
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance

FORMAT = "rankforce model"
_HEAD = f'{{"format": "{FORMAT}",\n"version": '.encode()
_VERSION = re.compile(rb"[0-9]{1,9}(?=,\n)")
_TAIL = re.compile(rb'\n"sha256": "([0-9a-f]{64})"}\n\Z')
_END = re.compile(rb'\n"sha256": "[0-9a-f]{64}"}\n')  # within a model a line ends with a comma or a bracket
_CLOSING = b'"}\n'
ENDING = 64 + len(_CLOSING)  # bytes of a whole model, from its digest on
_TAIL_LENGTH = len('\n"sha256": ""}\n') + 64
_GZIP = b"\x1f\x8b"


def save(model: Model, path: str | Path) -> None:
    """Write a model to one file. The file is complete or, if writing fails, what it was before."""
    name = file_name(path)
    data = to_bytes(model)
    if Path(name).suffix == ".gz":
        data = _compressed(data)
    with atomic_write(name, ModelFileError) as file:
        file.write(data)


def load(path: str | Path) -> Model:
    """Read a model that ``save`` wrote. NumPy suffices: neither Numba nor scikit-learn is needed to score with it."""
    name = file_name(path)
    return from_bytes(content_of(name), displayed_path(name))


def begins_as_model(data: bytes) -> bool:
    """Whether bytes begin as those of a model file, as far as there are any."""
    return data.startswith(_HEAD) or _HEAD.startswith(data)


def is_model_file(path: str | Path) -> bool:
    """Whether a file begins as a model file does (compressed or not). A file that cannot be read is none.

    Nor is a pipe: looking at it would take away what it brings.
    """
    if not Path(path).is_file():
        return False
    try:
        with open(path, "rb") as file:
            compressed = file.read(2) == _GZIP
        with gzip.open(path) if compressed else open(path, "rb") as file:
            return file.read(len(_HEAD)) == _HEAD
    except (OSError, EOFError, zlib.error):
        return False


def to_bytes(model: Model) -> bytes:
    """The file of a model, uncompressed."""
    plain = document_of(model)
    document = {"format": FORMAT, "version": oldest_version(plain), **plain}
    body = text(document)[:-1].encode() + b","  # without the closing brace: the digest follows
    return body + f'\n"sha256": "{hashlib.sha256(body).hexdigest()}"}}\n'.encode()


def from_bytes(data: bytes, name: str = "model") -> Model:
    """The model of a file's bytes; ``name`` is for messages."""
    data = uncompressed(data, name)
    appended = _appended_from(data)
    _check_frame(data[:appended], name)
    try:
        document = _document_of_bytes(data[:appended], columns=appended == len(data))
        Fields(document, name).whole("version", least=1, most=LATEST)
        if appended < len(data):
            if not appended_trees.may_follow(document):
                _check_frame(data, name)
            appended_trees.extend(document, data[appended:], last_digest(data[:appended]))
        return model_of(document, name)
    except ModelFileError:
        raise
    except RankforceError as error:
        raise ModelFileError(f"{name}: the file holds an impossible model: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name}: the file cannot be read as a model: {error}") from None
    except MemoryError:
        raise ModelFileError(f"{name}: the model does not fit into the memory; save it again") from None


def _document_of_bytes(data: bytes, *, columns: bool) -> dict[str, Any]:
    """The JSON of a file; with ``columns``, the lists of trees are TreeColumns where that can be."""
    read = functools.partial(json.loads, parse_constant=refuse_constant)
    if not columns:
        return read(data)
    types = tree_ensemble.NODE_FIELDS | tree_ensemble.LEAF_FIELDS
    rest, sections = tree_text.cut_out(data, types, tree_ensemble.LEAF_FIELDS)
    if not sections:
        return read(data)
    try:
        return read(rest, object_hook=functools.partial(tree_text.put_back, sections=sections))
    except ValueError:
        return read(data)  # which fails, too, and says where in the file


def _check_frame(data: bytes, name: str) -> None:
    """Say whether a file is foreign, truncated, damaged or newer before anything in it is believed."""
    if not data:
        raise ModelFileError(f"{name}: the file is empty; save the model again")
    if not data.startswith(_HEAD):
        if _HEAD.startswith(data):
            raise ModelFileError(f"{name}: the file is truncated; copy it again or save the model again")
        raise ModelFileError(f"{name}: this is not a rankforce model file (it does not begin with {FORMAT!r})")
    version = _VERSION.match(data, len(_HEAD))
    newer = version is not None and int(version[0]) > LATEST
    tail = _TAIL.search(data, max(0, len(data) - _TAIL_LENGTH))
    if newer and (tail is None or _digest(data, tail) == tail[1]):
        raise ModelFileError(
            f"{name}: the file has format version {version[0].decode() if version else ''}, this rankforce reads "
            f"up to {LATEST}; upgrade rankforce"
        )
    if tail is None:
        raise ModelFileError(
            f"{name}: the file is truncated or was reformatted: it does not end with its digest; "
            "copy it again or save the model again"
        )
    if _digest(data, tail) != tail[1]:
        raise ModelFileError(
            f"{name}: the file was damaged or edited: its content does not match its digest; "
            "copy it again or save the model again"
        )


def _appended_from(data: bytes) -> int:
    """Where the model ends and records begin that were appended to it, or all ends."""
    if _TAIL.search(data, max(0, len(data) - _TAIL_LENGTH)):
        return len(data)
    end = _END.search(data)
    return end.end() if end else len(data)


def last_digest(data: bytes) -> str:
    """The digest that the bytes of a whole model end with."""
    return data[-ENDING : -len(_CLOSING)].decode()


def _digest(data: bytes, tail: re.Match[bytes]) -> bytes:
    return hashlib.sha256(memoryview(data)[: tail.start()]).hexdigest().encode()


def _compressed(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=6, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


# ------------------------------------------------------------------------------------------------------ models in JSON


@functools.cache
def model_kinds() -> dict[str, type[Model]]:
    """Every kind of model by its name in files, found because its file is in this folder."""
    found = {}
    for module in pkgutil.iter_modules(rankforce.models.__path__):
        imported = importlib.import_module(f"rankforce.models.{module.name}")
        for member in vars(imported).values():
            mine = inspect.isclass(member) and member.__module__ == imported.__name__
            if mine and issubclass(member, Model) and "KIND" in vars(member):
                found[member.KIND] = member
    return dict(sorted(found.items()))


def document_of(model: Model) -> dict[str, Any]:
    """A model as plain values: what a file holds, and what a model within a model holds."""
    categories = {name: list(values) for name, values in model.categories.items()}
    return {
        "kind": model.KIND,
        "feature_names": list(model.feature_names),
        **({"categories": categories} if categories else {}),
        "provenance": written_provenance(model.provenance),
        "contents": model.contents(),
    }


def model_of(document: Any, name: str) -> Model:
    """The inverse of ``document_of``."""
    fields = Fields(document, name)
    kind = fields.text("kind")
    kinds = model_kinds()
    if kind not in kinds:
        raise ModelFileError(
            f"{name}: the file holds a model of the kind {kind!r}, which this rankforce does not know "
            f"(it knows: {', '.join(kinds)}); upgrade rankforce"
        )
    feature_names = tuple(fields.texts("feature_names"))
    if max(map(len, feature_names), default=0) > longest_id():
        raise fields.error(f"the name of a feature has more than {longest_id():,} characters")
    provenance = _provenance(Fields(fields.mapping("provenance"), name))
    contents = Fields(fields.mapping("contents"), name)
    contents.categories = fields.mapping("categories") if "categories" in fields.values else {}
    model = kinds[kind].from_contents(contents, feature_names, provenance)
    if model.categories.keys() != contents.categories.keys():
        raise fields.error(f"a model of the kind {kind!r} has no categories")
    return model


def _provenance(fields: Fields) -> Provenance:
    numbers = {key: fields.numbers(key) for key in ("feature_lows", "feature_highs", "missing_shares")}
    lows, highs, shares = (np.array(values, dtype=np.float64) for values in numbers.values())
    if not len(lows) == len(highs) == len(shares):
        raise fields.error("'feature_lows', 'feature_highs' and 'missing_shares' must be equally long")
    if np.isinf([lows, highs]).any() or (lows > highs).any():  # NaN: a feature that is always missing
        raise fields.error("the range of a feature must be from its lowest to its highest value")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise fields.error("'missing_shares' must be numbers from 0 to 1")
    history = Fields(fields.mapping("history"), fields.name)
    versions = Fields(fields.mapping("versions"), fields.name)
    watched = Fields(fields.values.get("watched", {}), fields.name)  # older files do not say what they watched, ...
    seed = None if fields.get("seed") is None else fields.whole("seed", least=0, most=2**64 - 1)
    return Provenance(
        settings={key: revived(value) for key, value in fields.mapping("settings").items()},
        objective=fields.text("objective"),
        history={key: history.numbers(key) for key in history.values},
        watched={key: watched.text(key) for key in watched.values},
        ties=fields.text("ties") if "ties" in fields.values else "",  # ... nor how
        data_fingerprint=fields.text("data_fingerprint"),
        versions={key: versions.text(key) for key in versions.values},
        cpu_target=fields.text("cpu_target"),
        seed=seed,
        known_data=read_known_data(fields, len(lows)),
        **numbers,  # type: ignore[arg-type]  # Provenance makes tuples of them
    )


class Fields:
    """Values out of a file, checked as they are taken: a wrong one is a ModelFileError that names it."""

    def __init__(self, values: Any, name: str) -> None:
        self.name = name
        if not isinstance(values, dict):
            raise self.error("an object was expected")
        self.values = values
        self.categories: dict[str, Any] = {}  # of the model whose contents these are

    def error(self, problem: str) -> ModelFileError:
        return ModelFileError(f"{self.name}: the file holds an impossible model: {problem}")

    def get(self, key: str) -> Any:
        if key not in self.values:
            raise self.error(f"{key!r} is missing")
        return self.values[key]

    def _of_type(self, key: str, kind: type, called: str) -> Any:
        value = self.get(key)
        if not isinstance(value, kind):
            raise self.error(f"{key!r} must be {called}")
        return value

    def text(self, key: str) -> str:
        return str(self._of_type(key, str, "text"))

    def optional_text(self, key: str) -> str | None:
        return None if self.get(key) is None else self.text(key)

    def texts(self, key: str) -> list[str]:
        values = self._of_type(key, list, "a list")
        if not all(isinstance(value, str) for value in values):
            raise self.error(f"{key!r} must hold text only")
        return list(values)

    def mapping(self, key: str) -> dict[str, Any]:
        return dict(self._of_type(key, dict, "an object"))

    def number(self, key: str) -> float:
        return self._number(key, self.get(key))

    def whole(self, key: str, *, least: int, most: int) -> int:
        """A whole number between two others."""
        value = self.get(key)
        if type(value) is not int or not least <= value <= most:
            raise self.error(f"{key!r} must be a whole number from {least} to {most}")
        return value

    def numbers(self, key: str) -> list[float]:
        values = self._of_type(key, list, "a list")
        if set(map(type, values)) <= {float}:  # nearly always
            return list(values)
        return [self._number(key, value) for value in values]

    def _number(self, key: str, value: Any) -> float:
        number = revived(value)
        if type(number) not in (int, float):
            raise self.error(f"{key!r} must hold numbers")
        try:
            return float(number)
        except OverflowError:
            raise self.error(f"{key!r} holds a number that is too large") from None

    def array(self, key: str, dtype: Any) -> np.ndarray:
        """A list of numbers (or truth values) as an array; whole numbers where the dtype is one of those."""
        return self.column([{key: self._of_type(key, list, "a list")}], key, dtype)

    def records(self, key: str, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[dict[str, list[Any]]]:
        """A list of objects, each with exactly these names, and perhaps the optional ones, each of them a list."""
        records = self._of_type(key, list, "a list")
        wanted = set(names)
        for number, record in enumerate(records):
            if not isinstance(record, dict) or record.keys() - set(optional) != wanted:
                raise self.error(f"{key!r} {number} must be an object with {', '.join(names)}")
            if not all(type(values) is list for values in record.values()):
                raise self.error(f"{key!r} {number} must hold lists")
        return list(records)

    def column(self, records: list[dict[str, list[Any]]], key: str, dtype: Any) -> np.ndarray:
        """The lists named ``key`` of all records, one after the other."""
        values = list(itertools.chain.from_iterable(record[key] for record in records))
        kind = np.dtype(dtype).kind
        called, allowed = _KINDS[kind]
        if not allowed.issuperset(map(type, values)):
            raise self.error(f"{key!r} holds something that is not a {called}")
        try:
            with np.errstate(over="ignore"):
                return np.array(values, dtype=np.float64 if kind == "f" else dtype).astype(dtype)
        except OverflowError:
            raise self.error(f"{key!r} holds a number that is too large") from None

    def truth(self, key: str, default: bool) -> bool:
        """A truth value, or the default where older files have none."""
        return bool(self._of_type(key, bool, "true or false")) if key in self.values else default

    def optional_model(self, key: str) -> Model | None:
        return None if self.get(key) is None else model_of(self.mapping(key), self.name)

    def models(self, key: str) -> tuple[Model, ...]:
        return tuple(model_of(value, self.name) for value in self._of_type(key, list, "a list"))


_KINDS: dict[str, tuple[str, frozenset[type]]] = {
    "b": ("truth value", frozenset({bool})),
    "i": ("whole number", frozenset({int})),
    "u": ("whole number", frozenset({int})),
    "f": ("number", frozenset({int, float})),
}


# ------------------------------------------------------------------------------------------------------------- numbers


def shortest(values: np.ndarray) -> np.ndarray:
    """float32 values as the float64 numbers with the fewest digits that round back to them exactly."""
    numbers = values.astype(np.str_).astype(np.float64)
    # a decimal may lie so close between two float32 values that rounding it twice errs: then all digits are written
    with np.errstate(over="ignore"):
        return np.where(numbers.astype(np.float32) == values, numbers, values.astype(np.float64))
