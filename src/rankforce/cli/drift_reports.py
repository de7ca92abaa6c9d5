"""Drift of data files against the model that is named beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankforce.cli.misplaced_files import load_model
from rankforce.cli.reading import read_data
from rankforce.displayed_text import displayed_path
from rankforce.errors import DataError, RankforceWarning, SettingsError, warn

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset
    from rankforce.drifting.drift_result import Drift


class DriftReports:
    """What ``rankforce inspect`` was told about drift; ``models`` are those among its files."""

    def __init__(
        self,
        train: str | None,
        held_out: str | None,
        former: Path | None,
        alpha: float,
        fail_on: str | None,
        read: Sequence[str] | None,
    ) -> None:
        self.train, self.held_out, self.former = train, held_out, former
        self.alpha, self.fail_on, self.read = alpha, fail_on, read
        self.models: list[Any] = []

    def of(self, data: Mapping[str, Dataset]) -> dict[str, Drift]:
        """The drift of each data file, where there is one model to compare it with.

        Data that cannot be compared is an error if drift was asked for, else a remark.
        """
        import rankforce as rf

        asked = {"--train": self.train, "--held-out": self.held_out, "--former": self.former, "--fail-on": self.fail_on}
        named = [name for name, given in asked.items() if given is not None]
        if len(self.models) != 1 or not data:
            if named:
                raise SettingsError(f"{named[0]} is about drift: name one model, and the data to compare with its own")
            return {}
        given: dict[str, Any] = {"alpha": self.alpha}
        for name, path in (("train", self.train), ("held_out", self.held_out)):
            given[name] = None if path is None else read_data(path, self.read, like=self.models[0])
        given["former"] = None if self.former is None else load_model(self.former)
        found = {}
        for name, documents in data.items():
            try:
                found[name] = rf.drift(self.models[0], documents, **given)
            except DataError as error:
                if named:
                    raise
                warn(RankforceWarning(f"{displayed_path(name)}: drift cannot be told: ", *error.args))
        return found

    def failed(self, found: Mapping[str, Drift]) -> bool:
        """Whether some data is as bad as what the command is to fail on."""
        from rankforce.drifting.drift import is_at_least

        return self.fail_on is not None and any(is_at_least(one.verdict, self.fail_on) for one in found.values())
