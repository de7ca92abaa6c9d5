"""What in an inspection is worth a warning, and the remedy for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankforce.console.wording import counted, listed
from rankforce.displayed_text import displayed
from rankforce.inspection.findings import Finding

if TYPE_CHECKING:
    from rankforce.inspection.inspection import Inspection

_SORTED_SHARE = 0.9  # share of queries with sorted rows that cannot be chance ...
_ENOUGH_QUERIES = 5  # ... in this many queries
_LARGE_LABEL = 30.0  # beyond it an exponential gain is beyond all measure


def findings(report: Inspection) -> Iterator[Finding]:
    """Everything about a data set that will mislead, or may."""
    yield from _label_findings(report)
    yield from _feature_findings(report)
    yield from _duplicate_findings(report)
    if report.single_document_queries:
        yield Finding(
            "single_document_queries",
            f"{report.single_document_queries:,} of {report.queries:,} queries hold one document.",
            "They have nothing to rank: they teach nothing, and any ranking gets the best value on them.",
        )
    if report.queries == report.documents > 1:
        yield Finding(
            "every_query_has_one_document",
            "Every document is a query of its own.",
            "The query column is probably not the query: check which column or qid holds it.",
        )
    if not report.contiguous:
        yield Finding(
            "scattered_queries",
            "The documents of some queries are not adjacent.",
            "rankforce handles this; tools that take group sizes (LightGBM, XGBoost) would see other queries.",
        )


def _label_findings(report: Inspection) -> Iterator[Finding]:
    if not report.labels:
        yield Finding("no_labels", "There are no labels.", "Nothing can be measured or learned; scoring is possible.")
    for source in report.labels:
        labelled_queries = report.queries - source.unlabelled_queries
        if source.unlabelled:
            yield Finding(
                "unlabelled_documents",
                f"{displayed(source.name)}: {source.unlabelled / report.documents:.1%} of the documents are unlabelled"
                + (f", {source.unlabelled_queries:,} queries entirely." if source.unlabelled_queries else "."),
                "They take part in no training pair; look at the judged share beside every value (Judged@10).",
            )
        if source.distinct == 1:
            yield Finding(
                "one_label",
                f"{displayed(source.name)}: every label is {source.lowest:g}.",
                "Nothing can be ranked by it: check that the label column is the label.",
            )
        elif source.blank_queries:
            yield Finding(
                "blank_queries",
                f"{displayed(source.name)}: {source.blank_queries:,} of {labelled_queries:,} queries "
                f"({source.blank_queries / max(1, labelled_queries):.1%}) have no label above 0.",
                "Tools count them as 0, as 1, or not at all: state the policy (blank) with every value.",
            )
        if source.lowest < 0.0:
            yield Finding(
                "negative_labels",
                f"{displayed(source.name)}: labels go down to {source.lowest:g}.",
                "Measures give a negative label the worth of 0; if -1 means unjudged, make it missing.",
            )
        if source.highest > _LARGE_LABEL:
            effect = "is infinite: measures refuse it" if source.highest >= 1024.0 else "lets the largest decide alone"
            yield Finding(
                "large_labels",
                f"{displayed(source.name)}: labels go up to {source.highest:g}.",
                f"The exponential gain 2^label - 1 {effect}. Use gain=linear or a table, as in NDCG(gain=linear).",
            )
        if source.many_pairs is not None:
            longest = source.many_pairs
            yield Finding(
                "many_pairs",
                f"{source.name}: query {longest.query} has {longest.documents:,} documents and {longest.pairs:,} pairs "
                "of different labels.",
                "Training looks at every pair in every round: take fewer with pairs='top 30' or pairs='sample 10'.",
            )
        if source.mixed_queries >= _ENOUGH_QUERIES and source.sorted_queries >= _SORTED_SHARE * source.mixed_queries:
            yield Finding(
                "sorted_by_label",
                f"{displayed(source.name)}: the rows of {source.sorted_queries:,} of {source.mixed_queries:,} queries "
                "with different labels are sorted by label.",
                "Where scores tie, tools that keep the row order report far too good values: shuffle the rows, "
                "or evaluate with the policy expected or pessimistic for ties.",
            )


def _feature_findings(report: Inspection) -> Iterator[Finding]:
    for leak in report.leaks:
        yield Finding(
            "feature_gives_answer",
            str(leak),
            "It is probably made from the label (or is the label): leave it out, unless it is known at query time.",
        )
    if report.never_seen_features:
        yield Finding(
            "never_seen_features",
            f"{counted(len(report.never_seen_features), 'feature is', 'features are')} 0 or missing in every document: "
            f"{listed(report.never_seen_features)}.",
            "They cost nothing, but ask why: a gap in the numbering, or an extractor that failed.",
        )
    if report.constant_features:
        yield Finding(
            "constant_features",
            f"{counted(len(report.constant_features), 'feature has', 'features have')} one value throughout: "
            f"{listed(list(report.constant_features))}.",
            "They cannot help; check the extractor if they should vary.",
        )
    often = [name for name, share in report.missing_features.items() if 0.5 < share < 1.0]
    if often:
        yield Finding(
            "often_missing_features",
            f"{counted(len(often), 'feature is', 'features are')} missing in over half of the documents: "
            f"{listed(often)}.",
            "Trees learn a side for missing values; check that production misses them in the same cases.",
        )
    if report.heavy_tailed_features:
        worst, ratio = next(iter(report.heavy_tailed_features.items()))
        yield Finding(
            "heavy_tailed_features",
            f"{counted(len(report.heavy_tailed_features), 'feature has', 'features have')} a heavy tail: "
            f"{listed(list(report.heavy_tailed_features))} (feature {displayed(worst)} reaches {ratio:,.0f} times its "
            "usual range).",
            "Trees do not mind; for linear models and nets take logarithms or ranks first.",
        )


def _duplicate_findings(report: Inspection) -> Iterator[Finding]:
    duplicates = report.duplicates
    if duplicates.documents:
        yield Finding(
            "duplicate_documents",
            f"{counted(duplicates.documents, 'document repeats', 'documents repeat')} the "
            f"{'features' if report.store is None else 'bins'} of another one of the same query "
            f"({counted(duplicates.queries, 'query', 'queries')}).",
            "No ranker can tell them apart: their order is decided by ties. Remove them, or add features.",
        )
    if duplicates.conflicting_documents:
        yield Finding(
            "conflicting_duplicates",
            f"{counted(duplicates.conflicting_documents, 'of them has', 'of them have')} another label than the first "
            "one"
            + (
                f", for example rows {duplicates.example[0]} and {duplicates.example[1]} (from 0)."
                if duplicates.example
                else "."
            ),
            "The judgments disagree, or the features miss what the judges saw; this bounds what can be learned.",
        )
    if duplicates.repeated_ids:
        yield Finding(
            "repeated_document_ids",
            f"{counted(duplicates.repeated_ids, 'document id appears', 'document ids appear')} twice within a query.",
            "Keep one row per document and query; TREC tools refuse or overwrite the second.",
        )
