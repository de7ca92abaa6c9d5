"""What a model file is, by its content: rankforce's own, or LightGBM's, XGBoost's, CatBoost's or RankLib's."""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce.data.categories import renamed
from rankforce.data.feature_matching import are_numbered
from rankforce.displayed_text import displayed_path
from rankforce.errors import ModelFileError, RankforceError, SettingsError
from rankforce.files import ubjson
from rankforce.files.decompression import opened
from rankforce.files.streams import file_name
from rankforce.importing import lightgbm_text, ranklib
from rankforce.importing.catboost_json import read_catboost_json
from rankforce.importing.lightgbm_json import read_lightgbm_json
from rankforce.importing.xgboost_dump import looks_like_dump, read_xgboost_dump
from rankforce.importing.xgboost_model import read_xgboost_model
from rankforce.kinds import shown
from rankforce.models import storage
from rankforce.models.file_content import content_of, uncompressed
from rankforce.models.json_text import refuse_constant
from rankforce.models.model import Model
from rankforce.models.tree_ensemble import TreeEnsemble

KNOWN = "LightGBM (text, dump_model), XGBoost (JSON, UBJSON, dump), CatBoost (JSON), RankLib (text)"
ENDINGS = (".json", ".txt", ".ubj", ".xml")
_UBJSON = b"{L"  # an object whose first key has a length of eight bytes, as XGBoost writes all of them


def load(path: Any, feature_names: Sequence[str] | None = None) -> Model:
    """Read a model: one that ``save`` wrote, or a tree ensemble of LightGBM, XGBoost, CatBoost or RankLib.

    Which it is follows from the content. NumPy suffices: neither Numba nor the other library is needed to score with
    it. ``feature_names`` names the features of a file that only numbers them, all of them in order: RankLib's do not
    even say how many there are. In place of a path, a fitted model of LightGBM, XGBoost or CatBoost is taken as it is.
    """
    _check_names(feature_names)
    if not isinstance(path, (str, os.PathLike)):
        from rankforce.importing.library_models import model_of_library

        model = model_of_library(path)
        if model is not None:
            return _named(model, feature_names, type(path).__name__)
    name = file_name(path)
    place = displayed_path(name)
    data = uncompressed(content_of(name), place)
    if storage.begins_as_model(data):
        return _named(storage.from_bytes(data, place), feature_names, place)
    return _named(read_foreign(data, place), feature_names, place)


def read_foreign(data: bytes, place: str) -> Model:
    """As ``_foreign_model``; whatever fails is a ModelFileError."""
    try:
        return _foreign_model(data, place)
    except ModelFileError:
        raise
    except RankforceError as error:
        raise ModelFileError(f"{place}: the file holds an impossible model: {error}") from None
    except RecursionError:
        raise ModelFileError(f"{place}: the file is nested too deeply to be a model") from None
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{place}: the file cannot be read as a model: {error}") from None
    except MemoryError:
        raise ModelFileError(f"{place}: the model does not fit into the memory") from None


def _check_names(names: Any) -> None:
    if names is None:
        return
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise SettingsError(f"feature_names must be a list of names or None, not {shown(names)}")
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise SettingsError(f"feature_names must hold text only, not {shown(wrong[0])}")


def _named(model: Model, names: Sequence[str] | None, name: str) -> Model:
    """The model with these names of features; only one that merely numbers them can be given names."""
    if names is None or tuple(names) == model.feature_names:
        return model
    if not are_numbered(model.feature_names) or not isinstance(model, TreeEnsemble) or model.base_model is not None:
        raise SettingsError(f"{name}: the file names its features itself: leave feature_names out")
    if len(names) < model.n_features:
        raise SettingsError(f"{name}: the model has {model.n_features} features, feature_names has {len(names)}")
    categories = renamed(model.categories, model.feature_names, names[: model.n_features])
    return dataclasses.replace(model, feature_names=tuple(names), categories=categories)


def looks_like_model(path: str | Path) -> bool:
    """Whether a file begins as some model file does (compressed or not): data files do not begin like that."""
    if not Path(path).is_file():
        return False
    try:
        with opened(Path(path)) as stream:
            start: bytes = stream.read(64)
    except (OSError, EOFError, zlib.error, RankforceError):
        return False
    heads = (b"{", b"[", b"tree\nversion=", b"tree\r\nversion=", *(b"## " + name.encode() for name in ranklib.RANKERS))
    return start.lstrip().startswith(heads)


def names_model_file(text: str) -> bool:
    """Whether a text is written as the name of a model file, not of a feature."""
    return text.lower().removesuffix(".gz").endswith(ENDINGS)


def _foreign_model(data: bytes, name: str) -> Model:
    if data.startswith((lightgbm_text.BEGIN, lightgbm_text.BEGIN.replace(b"\n", b"\r\n"))):
        return lightgbm_text.read_lightgbm_text(data, name)
    if data.startswith(ranklib.BEGIN):
        return ranklib.read_ranklib(data, name)
    if data.startswith(_UBJSON):
        return _of_document(ubjson.parse(data), data, name, "UBJSON")
    if data.lstrip()[:1] in (b"{", b"["):
        return _of_document(json.loads(data, parse_constant=refuse_constant), data, name, "JSON")
    return storage.from_bytes(data, name)  # which says what is wrong with it


def _of_document(document: Any, data: bytes, name: str, form: str) -> Model:
    if looks_like_dump(document):
        return read_xgboost_dump(document, name)
    if isinstance(document, dict):
        if "learner" in document:
            return read_xgboost_model(document, name, form)
        if "tree_info" in document:
            return read_lightgbm_json(document, name)
        if "features_info" in document and ("oblivious_trees" in document or "trees" in document):
            return read_catboost_json(document, name)
        if document.get("format") == storage.FORMAT:
            return storage.from_bytes(data, name)
    raise ModelFileError(f"{name}: this is not a rankforce model file, nor one of {KNOWN}")
