"""The journal of a search: one line of JSON per finished trial, on the disk before the next one begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rankforce.errors import DataError, SettingsError
from rankforce.files.streams import file_name
from rankforce.training.own_code import OwnCode

_KIND = "rankforce tune"


class Journal:
    """What a search has found so far, in a file that only grows.

    The first line says what is searched: a search for something else is refused. A last line that a crash cut short is
    dropped.

    code : of the user's in what is searched
    """

    def __init__(self, path: str | Path, identity: dict[str, Any], code: OwnCode) -> None:
        self.path = Path(file_name(path))
        self.code = code
        self.records: list[dict[str, Any]] = []
        identity = json.loads(json.dumps({"journal": _KIND, "version": 1, **identity, "code": code.written()}))
        code.warn(f"the journal {self.path}")
        if self.path.exists():
            self._read(identity)
        if not self.path.exists() or not self.path.stat().st_size:
            self._append(identity)

    def add(self, record: dict[str, Any]) -> None:
        """Append a finished trial; when this returns it is on the disk."""
        self._append(record)
        self.records.append(record)

    def _append(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        try:
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataError(f"{self.path}: the journal cannot be written: {error.strerror or error}") from None

    def _read(self, identity: dict[str, Any]) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self.path}: the journal cannot be read: {error.strerror or error}") from None
        whole = content.rfind(b"\n") + 1
        records = []
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict) or not (
                _is_trial(record) if number > 1 else record.get("journal") == _KIND
            ):
                raise DataError(
                    f"{self.path}, line {number}: this is not a journal of a search; choose another file for it"
                )
            records.append(record)
        if not records and content.strip():
            raise DataError(f"{self.path}: this is not a journal of a search; choose another file for it")
        if records:
            differences = [
                f"{name}: {_short(records[0].get(name))} then, {_short(identity.get(name))} now"
                for name in identity
                if name != "code" and records[0].get(name) != identity[name]
            ]
            differences += self.code.differences(records[0].get("code"))
            if differences:
                raise SettingsError(
                    f"{self.path}: the journal belongs to another search ({'; '.join(differences)}); "
                    "search as before, or begin another journal"
                )
        if whole < len(content):
            os.truncate(self.path, whole)
        self.records = records[1:]


def _is_trial(record: dict[str, Any]) -> bool:
    return (
        record.keys() >= {"settings", "value", "seconds", "state", "iterations", "reason"}
        and isinstance(record["settings"], dict)
        and (record["value"] is None or isinstance(record["value"], (int, float)))
        and record["state"] in ("done", "pruned", "failed")
    )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."
