"""Requests for the learning-to-rank plugins of OpenSearch and Elasticsearch."""

from __future__ import annotations

from typing import Any, Final

from rankforce.export.bundles.request_files import WORDS, Bundled, json_text, readme

TYPES: Final = {
    "ranklib": "model/ranklib",
    "ltr-xgboost": "model/xgboost+json",
    "ltr-xgboost-raw": "model/xgboost+json+raw",
    "ltr-linear": "model/linear",
}
NAMED = "logged_featureset"
ENTRY = "main"


def files(bundled: Bundled) -> dict[str, str]:
    """Bodies of requests, and how to send them."""
    logged = {"name": ENTRY, "named_query": NAMED}
    specification: dict[str, Any] = logged | ({"missing_as_zero": True} if bundled.missing == "zero" else {})
    sltr = {"_name": NAMED, "featureset": bundled.feature_set, "params": {"keywords": WORDS}}
    definition = {"type": TYPES[bundled.format], "definition": bundled.contents}
    rescored = {"sltr": {"params": {"keywords": WORDS}, "model": bundled.name}}
    return {
        "featureset.json": json_text({"featureset": {"name": bundled.feature_set, "features": _features(bundled)}}),
        "createmodel.json": json_text({"model": {"name": bundled.name, "model": definition}}),
        "log.json": json_text(
            {
                "size": 100,
                "query": {"bool": {"filter": [{"terms": {"_id": ["DOCUMENT-1", "DOCUMENT-2"]}}, {"sltr": sltr}]}},
                "ext": {"ltr_log": {"log_specs": specification}},
            }
        ),
        "rescore.json": json_text(
            {
                "query": {"multi_match": {"query": WORDS}},
                "rescore": {
                    "window_size": 100,
                    "query": {"rescore_query": rescored, "query_weight": 0.0, "rescore_query_weight": 1.0},
                },
            }
        ),
        "README.md": _readme(bundled),
    }


def _features(bundled: Bundled) -> list[dict[str, Any]]:
    if bundled.definitions is not None:
        return bundled.definitions
    return [
        {
            "name": name,
            "params": ["keywords"],
            "template_language": "mustache",
            "template": {"match": {name: "{{keywords}}"}},
        }
        for name in bundled.features
    ]


def _readme(bundled: Bundled) -> str:
    post = 'curl -s -X POST -H "Content-Type: application/json"'
    return readme(
        f"{bundled.name}: a model for OpenSearch or Elasticsearch",
        bundled,
        {
            "Once per cluster: make the feature store.": 'curl -s -X PUT "$ENGINE/_ltr"',
            f"Once per feature set: upload it as `{bundled.feature_set}`.": (
                f'{post} "$ENGINE/_ltr/_featureset/{bundled.feature_set}" -d @featureset.json'
            ),
            f"Upload the model as `{bundled.name}`. A model cannot be updated: a new one gets a new name.": (
                f'{post} "$ENGINE/_ltr/_featureset/{bundled.feature_set}/_createmodel" -d @createmodel.json'
            ),
            "Rank with it: the 100 best of the query before are ranked anew.": (
                f'{post} "$ENGINE/INDEX/_search" -d @rescore.json'
            ),
            "Log features for the next training, and read them.": (
                f'{post} "$ENGINE/INDEX/_search" -d @log.json > QUERY-ID.json\n'
                "rankforce features QUERY-ID.json --query file --judgments judgments.csv --out train.parquet"
            ),
        },
    )
