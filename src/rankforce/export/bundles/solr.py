"""Requests for Solr's module ltr."""

from __future__ import annotations

from typing import Any

from rankforce.export.bundles.request_files import WORDS, Bundled, json_text, readme


def files(bundled: Bundled) -> dict[str, str]:
    """The feature store, the model, requests, and how to send them."""
    given = f"efi.user_query='{WORDS}'"
    return {
        "features.json": json_text(_features(bundled)),
        "model.json": bundled.contents,
        "log.json": json_text({"query": WORDS, "limit": 100, "params": {"fl": f"id,[features format=dense {given}]"}}),
        "rerank.json": json_text(
            {
                "query": WORDS,
                "limit": 10,
                "params": {"rq": f"{{!ltr model={bundled.name} reRankDocs=100 {given}}}", "fl": "id,score"},
            }
        ),
        "README.md": _readme(bundled),
    }


def _features(bundled: Bundled) -> list[dict[str, Any]]:
    if bundled.definitions is not None:
        return bundled.definitions
    absent = {"defaultValue": "NaN"} if bundled.missing == "nan" else {}
    return [
        {
            "name": name,
            "class": "org.apache.solr.ltr.feature.SolrFeature",
            "params": {"q": f"{{!field f={name}}}${{user_query}}"} | absent,
        }
        for name in bundled.features
    ]


def _readme(bundled: Bundled) -> str:
    put, post = (f'curl -s -X {verb} -H "Content-Type: application/json"' for verb in ("PUT", "POST"))
    return readme(
        f"{bundled.name}: a model for Solr",
        bundled,
        {
            "Once: upload the features.": f'{put} "$SOLR/COLLECTION/schema/feature-store" --data-binary @features.json',
            f"Upload the model as `{bundled.name}`. A new model gets a new name.": (
                f'{put} "$SOLR/COLLECTION/schema/model-store" --data-binary @model.json'
            ),
            "Reload the collection, so that all replicas see both.": (
                'curl -s "$SOLR/admin/collections?action=RELOAD&name=COLLECTION"'
            ),
            "Rank with it: the 100 best of the query before are ranked anew.": (
                f'{post} "$SOLR/COLLECTION/query" --data-binary @rerank.json'
            ),
            "Log features for the next training, and read them.": (
                f'{post} "$SOLR/COLLECTION/query" --data-binary @log.json > QUERY-ID.json\n'
                "rankforce features QUERY-ID.json --query file --judgments judgments.csv --out train.parquet"
            ),
        },
    )
