"""Features that a search engine logged, with judgments, as a data set.

log = rf.read_feature_log("responses.jsonl", "judgments.csv")
rf.LambdaMART().fit(log.data)
"""

from __future__ import annotations

from typing import Any

from rankforce.data.feature_logs import ltr_plugin, solr, vespa
from rankforce.data.feature_logs.feature_sets import feature_set_names
from rankforce.data.feature_logs.joining import FeatureLog, LoggedDocuments, joined
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.data.feature_logs.judgments import read_judgments
from rankforce.data.feature_logs.query_ids import QueryIds
from rankforce.data.feature_logs.responses import records
from rankforce.files.limits import within_memory
from rankforce.kinds import Choice, OrNone, Text, check_choice

_ENGINES = (ltr_plugin, solr, vespa)


def read_feature_log(
    source: Any,
    judgments: Any = None,
    *,
    features: Any = None,
    query: str | None = None,
    document: str | None = None,
    entry: str | None = None,
    unjudged: str = "drop",
    absent: str | None = None,
    repeated: str = "raise",
) -> FeatureLog:
    """Features that a search engine logged, joined with judgments by query and document.

    Which engine wrote a response is seen from its shape: Elasticsearch and OpenSearch with their learning-to-rank
    plugin (``fields._ltrlog``), Solr (``[features]``), Vespa (``matchfeatures``, ``summaryfeatures``).

    Parameters
    ----------
    source : path, several paths, or responses by query id
        Files of search responses as JSON, one per file or one per line, also gzip. A record is a response, or an object
        with the response under ``response`` and what is known of its request beside it. In Python: a mapping from query
        ids to responses, or a list of records.
    judgments : path, data frame or mapping, optional
        Columns query, document, grade (CSV, Parquet, frame), TREC qrels, or ``{query: {document: grade}}``. Without
        judgments every document is kept, unlabelled: for scoring, or for labels from clicks.
    features : list of names, path, or model; optional
        The feature set: which features, and in which order. A file is the feature set of Elasticsearch or OpenSearch,
        the feature store of Solr, or has a name per line. By default all features of the log, in its order if it is
        the same for all documents, else sorted.
    query : str, optional
        Where the query id stands: a path in the record (``"responseHeader.params.q"``), ``"file"`` for the name of the
        file up to its first dot, ``"entry"`` for the name of the log entry, ``"named:qid="`` for the named query that
        begins so. By default ``qid``, ``query_id`` or ``query``, beside the response or in its ``request``.
    document : str, optional
        The path of the document's id in a hit: by default ``_id``, ``id``, and for Vespa what stands behind ``::`` in
        ``documentid``.
    entry : str, optional
        The log entry (Elasticsearch, OpenSearch) or field (Solr, Vespa) with the features, where there are several.
    unjudged : "drop" or "keep"
        What becomes of logged documents that are not judged: left out, or kept without a label.
    absent : "missing" or "zero", optional
        What a feature without a value is. By default missing; 0 for Solr, whose sparse format leaves zeros out.
    repeated : "raise", "first" or "last"
        Which of several logs of one document under one query counts, where their values differ.
    """
    check_choice("unjudged", unjudged, ("drop", "keep"))
    OrNone(Choice(("missing", "zero"))).check("absent", absent)
    check_choice("repeated", repeated, ("raise", "first", "last"))
    for name, value in (("document", document), ("entry", entry)):
        OrNone(Text("the name or path of a field")).check(name, value)
    ids = QueryIds(query)
    names = None if features is None else feature_set_names(features)
    grades = None if judgments is None else read_judgments(judgments)
    documents = LoggedDocuments(repeated)
    with within_memory("feature log"):
        for given, record in records(source):
            _add(documents, ids, given, record, document, entry)
        return joined(documents, grades, names, unjudged, absent)


def _add(
    documents: LoggedDocuments,
    ids: QueryIds,
    given: str | None,
    record: JsonNode,
    document: str | None,
    entry: str | None,
) -> None:
    response = _response(record)
    engine = next(one for one in _ENGINES if one.is_response(response.value))
    read = engine.read(response, document, entry)
    documents.counts.responses += 1
    documents.counts.partial_responses += read.partial
    for hit in read.hits:
        if hit is None:
            documents.counts.documents_without_features += 1
        else:
            documents.add(ids.of(given, record, hit), hit)


def _response(record: JsonNode) -> JsonNode:
    """The response of a record: itself, or what stands under ``response``."""
    node = record
    while not any(one.is_response(node.entries()) for one in _ENGINES):
        for key in ("error", "errors"):
            if key in node.value:
                node[key].fail("the engine answered with an error")
        inner = node.get("response")
        if inner is None:
            node.fail(
                "this is no search response: there is neither 'hits' (Elasticsearch, OpenSearch), 'response.docs' "
                "(Solr) nor 'root' (Vespa)"
            )
        node = inner
    return node
