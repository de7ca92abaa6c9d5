"""Search responses with logged features, in the shapes that engines give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Features = Mapping[str, float | None]  # None: the feature did not match


def plugin_response(documents: Mapping[str, Features], entry: str = "main", named: str | None = None) -> dict[str, Any]:
    """Elasticsearch or OpenSearch with ``ext.ltr_log``."""
    hits = []
    for document, features in documents.items():
        logged = [{"name": name} | ({} if value is None else {"value": value}) for name, value in features.items()]
        hit: dict[str, Any] = {"_index": "shop", "_id": document, "_score": 1.0, "_source": {"title": "shoe"}}
        hit["fields"] = {"_ltrlog": [{entry: logged}]}
        if named is not None:
            hit["matched_queries"] = ["logged_featureset", named]
        hits.append(hit)
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits},
    }


def old_plugin_response(documents: Mapping[str, Features]) -> dict[str, Any]:
    """The first releases of the plugin: features as an object."""
    response = plugin_response(documents)
    for hit, features in zip(response["hits"]["hits"], documents.values(), strict=True):
        hit["fields"]["_ltrlog"] = [{"main": {name: value for name, value in features.items() if value is not None}}]
    return response


def solr_response(documents: Mapping[str, Features], query: str = "red shoes", sparse: bool = False) -> dict[str, Any]:
    """Solr with ``fl=id,score,[features]``."""
    docs = []
    for document, features in documents.items():
        listed = {name: value or 0.0 for name, value in features.items()}
        pairs = [f"{name}={value!r}" for name, value in listed.items() if value or not sparse]
        docs.append({"id": document, "score": 1.0, "[features]": ",".join(pairs)})
    return {
        "responseHeader": {"status": 0, "QTime": 3, "params": {"q": query, "fl": "id,score,[features]"}},
        "response": {"numFound": len(docs), "start": 0, "numFoundExact": True, "docs": docs},
    }


def vespa_response(documents: Mapping[str, Features], field: str = "matchfeatures") -> dict[str, Any]:
    """Vespa with match-features or summary-features."""
    children = [
        {
            "id": f"id:shop:product::{document}",
            "relevance": 0.5,
            "source": "shop",
            "fields": {
                "sddocname": "product",
                "documentid": f"id:shop:product::{document}",
                field: {**features, "vespa.summaryFeatures.cached": 0.0},
            },
        }
        for document, features in documents.items()
    ]
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(children)}, "children": children}
    return {"root": root | {"coverage": {"coverage": 100, "documents": 7, "full": True}}}
