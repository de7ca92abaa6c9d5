"""``export_bundle``: a model with everything that its search engine must be told, ready to send."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.errors import SettingsError
from rankforce.export.bundles import ltr_plugins, solr, vespa
from rankforce.export.bundles.request_files import Bundled
from rankforce.export.exporting import export_model
from rankforce.export.feature_sets import feature_set
from rankforce.files.atomic_writes import atomic_write, check_replaceable
from rankforce.files.streams import file_name
from rankforce.kinds import OrNone, Text, shown
from rankforce.models.exported import Exported

_ENGINES = {**dict.fromkeys(ltr_plugins.TYPES, ltr_plugins.files), "solr": solr.files, "vespa": vespa.files}
_DIGITS = 8


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedBundle:
    """What was written.

    folder : where
    name : of the model in the engine: the one that was asked for and a digest of the model, as engines keep the old one
    files : names of the files, within the folder
    exported : what ``export_model`` says of the model
    """

    folder: str
    name: str
    files: tuple[str, ...]
    exported: Exported

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"folder": self.folder, "name": self.name, "files": list(self.files), **self.exported.to_dict()}


def export_bundle(
    model: Any,
    folder: str | os.PathLike[str],
    format: str,
    *,
    engine: str | None = None,
    missing: str | None = None,
    features: Any = None,
    name: str | None = None,
    shift: bool = False,
    check: Any = None,
) -> ExportedBundle:
    """Write a folder: the model, the features, requests that upload, log and rank, and a README with their curl lines.

    For OpenSearch and Elasticsearch ("ranklib", "ltr-xgboost", "ltr-xgboost-raw", "ltr-linear"), "solr" and "vespa".
    Feature definitions are those of ``features`` where it holds them (the engine's own feature set or store), else
    skeletons. The model's name ends in a digest of its contents: models cannot be updated in engines. The folder must
    not exist, or be empty; it is written whole or not at all. Otherwise as ``export_model``.

    name : of the model in the engine, before the digest; None: the folder's name
    """
    OrNone(Text()).check("name", name)
    if not isinstance(format, str) or format not in _ENGINES:
        raise SettingsError(
            f"format must be that of a search engine, one of {', '.join(map(repr, _ENGINES))}: {shown(format)}"
        )
    target = Path(file_name(folder))
    _check_folder(target)
    stem = re.sub(r"\W|^(?=\d)", "_", name or target.resolve().name, flags=re.ASCII) or "rankforce"
    options: dict[str, Any] = {"engine": engine, "missing": missing, "features": features, "shift": shift}
    # the digest is of what the model is, whatever it is called
    unnamed = export_model(model, None, format, name=stem, **options)
    called = f"{stem}_{hashlib.blake2b(unnamed.contents, digest_size=_DIGITS // 2).hexdigest()}"
    exported = export_model(model, None, format, name=called, check=check, **options)
    bundled = Bundled(
        name=called,
        format=format,
        features=_names(model, features),
        definitions=_definitions(features),
        missing=exported.missing,
        contents=exported.contents.decode(),
        notes=exported.notes,
    )
    files = _ENGINES[format](bundled)
    _write(target, files)
    return ExportedBundle(os.fspath(target), called, tuple(sorted(files)), exported)


def _names(model: Any, features: Any) -> tuple[str, ...]:
    return feature_set(features, getattr(model, "model_", model).feature_names, np.empty(0, dtype=np.int64)).names


def _definitions(features: Any) -> list[dict[str, Any]] | None:
    """Features as an engine defines them: objects with more than a name; ``feature_set`` has checked the shape."""
    value = features
    if isinstance(features, (str, os.PathLike)):
        value = json.loads(Path(file_name(features)).read_bytes())
    for wrapping in ("_source", "featureset", "features"):
        if isinstance(value, dict) and wrapping in value:
            value = value[wrapping]
    if isinstance(value, list) and value and all(isinstance(one, dict) and len(one) > 1 for one in value):
        return value
    return None


def _check_folder(folder: Path) -> None:
    if folder.is_dir():
        if any(folder.iterdir()):
            raise SettingsError(f"{folder}: the folder is not empty: name a new one, or empty it")
    elif folder.exists():
        raise SettingsError(f"{folder}: this is no folder")
    check_replaceable(folder.resolve().with_name("rankforce-bundle"), SettingsError)


def _write(folder: Path, files: dict[str, str]) -> None:
    """All files beside the folder first, then in its place."""
    target = folder.resolve()
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.partial")
    try:
        for name, text in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path, SettingsError) as file:
                file.write(text.encode())
        os.replace(beside, target)
    except OSError as failure:
        raise SettingsError(f"{folder}: cannot be written: {failure.strerror or failure}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
