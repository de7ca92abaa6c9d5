"""Parameters of LightGBM and XGBoost in files: JSON, or their own ``name = value`` lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankforce.errors import FileFormatError, SettingsError
from rankforce.text_values import plain_value

# What such files say about data and output is for the other program.
_FILES = frozenset(
    {"task", "data", "train", "train_data", "valid", "valid_data", "test", "test_data", "valid_data_file"}
    | {"output_model", "model_out", "model_in", "input_model", "save_period", "eval_train", "snapshot_freq"}
)


def read_parameters(path: Path) -> dict[str, Any]:
    """Parameters by name; ``#`` begins a comment; what names files and tasks is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the parameters cannot be read: {getattr(error, 'strerror', error)}") from None
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"{path}: this is not JSON: {error}") from None
        return {name: value for name, value in document.items() if name not in _FILES}
    parameters: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise FileFormatError("a parameter is written name = value", path=path, line=number, text=line)
        if name.strip() not in _FILES and "[" not in name:  # XGBoost: eval[test] = "file"
            parameters[name.strip()] = plain_value(value)
    return parameters
