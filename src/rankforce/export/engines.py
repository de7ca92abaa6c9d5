"""Which engine reads which format since when, and what it does with a missing value: data for refusals and docs.

Found by running the engines, or by reading their sources where they could not be run.
"""

from __future__ import annotations

import dataclasses
import enum
import re

from rankforce.errors import SettingsError

Version = tuple[int, ...]


class MissingAs(enum.Enum):
    """What an engine makes of a feature without a value: one that did not match, or NaN."""

    ZERO = "reads it as 0"
    RIGHT = "sends it right, whatever the file says"
    SIDE = "sends it to the side that the file says"  # in trees; elsewhere it is 0
    CHOSEN = "does with it what the file says"  # whatever the form


ENGINES = {
    "opensearch": "OpenSearch with the Learning to Rank plugin",
    "elasticsearch": "Elasticsearch with the Learning to Rank plugin (releases are the plugin's: 1.5.10)",
    "elastic": "Elastic's own learning to rank, by eland",
    "ranklib": "RankLib and its forks",
    "solr": "Apache Solr, module ltr",
    "vespa": "Vespa",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "treelite": "Treelite",
    "onnxruntime": "ONNX Runtime",
}


@dataclasses.dataclass(frozen=True)
class Reader:
    """Releases of an engine that read a format, and do the same with missing values."""

    format: str
    engine: str
    missing: MissingAs
    since: Version = ()
    before: Version | None = None
    remark: str = ""

    def covers(self, release: Version) -> bool:
        return self.since <= release and (self.before is None or release < self.before)

    @property
    def releases(self) -> str:
        """In words: "3.2 to below 3.8"."""
        since, before = spelled(self.since), "" if self.before is None else spelled(self.before)
        if since and before:
            return f"{since} to below {before}"
        return f"from {since}" if since else f"below {before}" if before else "all"

    def __str__(self) -> str:
        return self.engine if self.releases == "all" else f"{self.engine} {self.releases}"


def _plugin(name: str) -> tuple[Reader, ...]:
    """What both plugins do with trees in XGBoost's JSON."""
    return (
        Reader(name, "opensearch", MissingAs.ZERO, before=(3, 2)),
        Reader(name, "opensearch", MissingAs.RIGHT, since=(3, 2), before=(3, 8)),
        Reader(name, "opensearch", MissingAs.SIDE, since=(3, 8)),
        Reader(name, "elasticsearch", MissingAs.ZERO, before=(1, 5, 9)),
        Reader(name, "elasticsearch", MissingAs.SIDE, since=(1, 5, 9)),
    )


READERS: tuple[Reader, ...] = (
    Reader("ranklib", "ranklib", MissingAs.ZERO, remark="rows must reach the last feature of the model"),
    Reader("ranklib", "opensearch", MissingAs.ZERO, remark="model/ranklib"),
    Reader("ranklib", "elasticsearch", MissingAs.ZERO, remark="model/ranklib"),
    *_plugin("ltr-xgboost"),
    Reader("ltr-xgboost-raw", "opensearch", MissingAs.ZERO, since=(2, 19, 5), before=(3, 2)),
    Reader("ltr-xgboost-raw", "opensearch", MissingAs.RIGHT, since=(3, 2), before=(3, 8)),
    Reader("ltr-xgboost-raw", "opensearch", MissingAs.SIDE, since=(3, 8)),
    Reader("ltr-xgboost-raw", "elasticsearch", MissingAs.SIDE, since=(1, 5, 10)),
    Reader("ltr-linear", "opensearch", MissingAs.ZERO, remark="model/linear"),
    Reader("ltr-linear", "elasticsearch", MissingAs.ZERO, remark="model/linear"),
    Reader("solr", "solr", MissingAs.ZERO, before=(9, 2)),
    Reader(
        "solr",
        "solr",
        MissingAs.SIDE,
        since=(9, 2),
        remark="where a missing value is NaN, features need defaultValue NaN",
    ),
    Reader("xgboost", "xgboost", MissingAs.SIDE, since=(2,)),
    Reader("xgboost", "treelite", MissingAs.SIDE, since=(4,)),
    Reader("xgboost", "elastic", MissingAs.SIDE, since=(8, 13), remark="import it with eland"),
    Reader("lightgbm", "lightgbm", MissingAs.SIDE, since=(3,)),
    Reader("lightgbm", "treelite", MissingAs.SIDE, since=(4,)),
    Reader("lightgbm-json", "lightgbm", MissingAs.SIDE, since=(3,), remark="the shape of Booster.dump_model()"),
    Reader("vespa", "vespa", MissingAs.CHOSEN, since=(8,)),
    Reader("onnx", "onnxruntime", MissingAs.CHOSEN, since=(1, 10), before=(1, 20), remark="in float32"),
    Reader("onnx", "onnxruntime", MissingAs.CHOSEN, since=(1, 20)),
    Reader("onnx", "vespa", MissingAs.CHOSEN, since=(8,)),
)


def readers_of(format_name: str) -> tuple[Reader, ...]:
    """All that read a format."""
    return tuple(reader for reader in READERS if reader.format == format_name)


def reader_named(format_name: str, engine: str) -> Reader:
    """The reader that an ``engine`` names ("opensearch-2.19", "ranklib"); raises if it does not read the format."""
    name, release = _parsed(engine)
    known = readers_of(format_name)
    mine = [reader for reader in known if reader.engine == name]
    if not mine:
        others = sorted({reader.format for reader in READERS if reader.engine == name})
        raise SettingsError(
            f"{ENGINES[name]} does not read {format_name!r}, which is for {', '.join(_engines(known))}; "
            f"it reads {', '.join(map(repr, others))}"
        )
    if release is None:
        if len({one.missing for one in mine}) > 1:
            spans = "; ".join(f"{one.releases}: {one.missing.value}" for one in mine)
            raise SettingsError(
                f"what {ENGINES[name]} does with a missing value depends on its release ({spans}): name it, for "
                f"example {name}-{spelled(mine[-1].since)}"
            )
        return mine[-1]
    if name == "elasticsearch" and release >= (5,):
        raise SettingsError(
            f"{engine}: releases of Elasticsearch do not say what its plugin reads: name the plugin's, for example "
            "elasticsearch-1.5.10"
        )
    for reader in mine:
        if reader.since > release and reader.since[: len(release)] == release:
            raise SettingsError(
                f"{engine} may be a release before {spelled(reader.since)} or a later one, and they differ: name it in "
                f"full, for example {name}-{spelled(reader.since)}"
            )
    for reader in mine:
        if reader.covers(release):
            return reader
    raise SettingsError(
        f"{engine} does not read {format_name!r}: {ENGINES[name]} does {', '.join(one.releases for one in mine)}"
    )


def _parsed(engine: str) -> tuple[str, Version | None]:
    match = re.fullmatch(r"([a-z]+)(?:-([0-9]{1,6}(?:\.[0-9]{1,6}){0,3}))?", engine)
    if match is None or match[1] not in ENGINES:
        raise SettingsError(
            f"engine {engine!r} is not known: it is one of {', '.join(ENGINES)}, with a release behind it where it "
            "matters, as in opensearch-2.19"
        )
    return match[1], None if match[2] is None else tuple(int(part) for part in match[2].split("."))


def _engines(readers: tuple[Reader, ...]) -> list[str]:
    return list(dict.fromkeys(ENGINES[reader.engine] for reader in readers))


def spelled(version: Version) -> str:
    """3.2 of (3, 2)."""
    return ".".join(map(str, version))
