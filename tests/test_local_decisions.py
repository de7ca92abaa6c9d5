"""No member of a training decides anything by its own documents alone, unless it is said here why it may.

``local_decisions.py`` says what is looked for. The modules that run while members train are found by imports.
"""

from __future__ import annotations

import ast
import collections
import sys
import textwrap

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.local_decisions import local_decisions
from tests.test_architecture import IMPORTS, relative, sources
from tests.test_collective import HELD_OUT, PLAIN, learned

import rankforce as rf
from rankforce.rankers.catalogue import ranker_classes

LOOKED_AT = (
    "binning/", "boosting/", "forces/", "lambdas/", "measures/", "objectives/", "schedules.py", "sweeping/",
    "training/", "trees/", "rankers/lambdamart.py", "rankers/mart.py", "rankers/bagging.py",
    "diagnostics/instruments.py",
    "evaluation/agreement.py", "evaluation/evaluate.py", "evaluation/request.py", "evaluation/result.py",
    "evaluation/scores.py", "evaluation/significance.py", "evaluation/ties.py", "data/category_codes.py",
    "data/dataset.py", "data/distributions.py", "data/document_hashes.py", "data/fingerprints.py",
    "data/pair_counts.py", "data/preferences.py", "data/query_groups.py", "data/random_streams.py", "data/splits.py",
    "distributed/shards.py", "distributed/taking_part.py", "models/kept_data.py", "models/provenance.py",
    "stores/binned_dataset.py",
)  # fmt: skip

# The others that are imported on the way, and why nothing is looked for in them.
NOT_LOOKED_AT = {
    "kernels/": "loops over some queries; what they add up is handed back to Python",
    "collective.py": "what is looked for",
    "exact_sums.py": "sums that are added afterwards",
    "threads.py": "ranges of queries, whatever they are: no number changes",
    "data/": "makes, reads or writes data: before a training, or after it",
    "stores/": "made before a training",
    "models/": "scores and writes, document by document",
    "evaluation/": "of results, or of one process",
    "inspection/": "warns, and changes nothing",
    "tuning/": "calls whole trainings",
    "rankers/": "learn in one process: test_collective_quantities",
    "diagnostics/": "after a training",
    "explaining/": "after a training",
    "importing/": "of other libraries' models",
    "migration/": "of other libraries' settings",
    "optimising/": "of one process",
    "nets/": "learn in one process",
    "xrank/": "learns in one process",
    "compiling/": "knows no documents",
    "console/": "knows no documents",
    "files/": "knows no documents",
    "user_code/": "knows no documents",
    **dict.fromkeys(
        (
            "__init__.py", "cached_properties.py", "click_models.py", "displayed_text.py", "dtypes.py", "errors.py",
            "kinds.py", "memory.py", "processors.py", "public_names.py", "remedies.py", "text_values.py",
            "written_forms.py",
        ),
        "knows no documents",
    ),
}  # fmt: skip

REFUSAL = "a refusal, which one machine would make, too"
WORK = "how many threads, or how much at a time: no number changes"
EACH = "query by query, or document by document: what others have changes nothing"
GATHERED = "of everybody's, who gathered or added it up before"
ADDED = "its callers add it up"
SHOWN = "what is shown or warned of"
MADE_ALIKE = "of lists that all members make alike"
ALIKE = "settings, features, categories or leaves, which all members have alike"
ELSEWHERE = "not called while members train"

# What is decided by own documents on purpose: (module, function) -> why it may.
LOCAL_ON_PURPOSE = {
    ("binning/binned.py", "Binned.by"): WORK,
    ("binning/binning.py", "_joined"): ALIKE,
    ("binning/category_bins.py", "bins_of_counts"): GATHERED,
    ("binning/cuts.py", "find_cuts"): WORK,
    ("binning/cuts.py", "_cut_columns"): WORK,
    ("binning/packing.py", "Packing.of"): ALIKE,
    ("boosting/course.py", "BoostingCourse._growing_threads"): WORK,
    ("boosting/document_costs.py", "OwnPull._checked"): REFUSAL,
    ("boosting/finite_forces.py", "check_finite"): REFUSAL,
    ("boosting/finite_forces.py", "_query"): REFUSAL,
    ("boosting/memory_choice.py", "chosen_memory"): "memory of this machine; members agree on histograms in grower.py",
    ("data/category_codes.py", "recoded_matrix"): REFUSAL,
    ("data/dataset.py", "Dataset.__repr__"): SHOWN,
    ("data/dataset.py", "Dataset.contiguous"): "whether rows must be copied",
    ("data/dataset.py", "Dataset.take_queries"): EACH,
    ("data/distributions.py", "column_distribution"): GATHERED,
    ("data/distributions.py", "counts_by_query"): GATHERED,
    ("data/distributions.py", "_sorted"): GATHERED,
    ("data/distributions.py", "_between_queries"): GATHERED,
    ("data/distributions.py", "known_data"): WORK,
    ("data/fingerprints.py", "_query_digests"): EACH,
    ("data/pair_counts.py", "count_pairs"): EACH,
    ("data/pair_counts.py", "many_pairs"): SHOWN,
    ("training/validation_leaks.py", "_are_counted"): SHOWN,
    ("training/validation_leaks.py", "_have_same_documents"): SHOWN,
    ("training/validation_leaks.py", "warn_of_leaks"): SHOWN,
    ("data/preferences.py", "Preferences.__init__"): REFUSAL,
    ("data/preferences.py", "_Finder.__init__"): ELSEWHERE,
    ("data/preferences.py", "_read_pairs"): ELSEWHERE,
    ("data/query_groups.py", "_by_first_appearance"): "the order of a member's own queries",
    ("diagnostics/instruments.py", "TableInstrument.columns"): SHOWN,
    ("diagnostics/instruments.py", "TableInstrument.__str__"): SHOWN,
    ("diagnostics/instruments.py", "TableInstrument._result_table"): SHOWN,
    ("diagnostics/instruments.py", "RankChanges._start"): EACH,
    ("distributed/shards.py", "Loading.__init__"): ALIKE,
    ("distributed/shards.py", "Loading.take"): "which rows a worker keeps",
    ("distributed/shards.py", "_joined"): "rows of this worker, one after the other",
    ("evaluation/evaluate.py", "evaluate"): ALIKE,
    ("evaluation/evaluate.py", "_measured"): EACH,
    ("evaluation/evaluate.py", "_explainer"): EACH,
    ("evaluation/evaluate.py", "_segment_of"): ELSEWHERE,
    ("evaluation/evaluate.py", "_weight_words"): SHOWN,
    ("evaluation/result.py", "Evaluation.__init__"): SHOWN,
    ("evaluation/result.py", "Evaluation.__repr__"): SHOWN,
    ("evaluation/result.py", "Evaluation.explain"): ELSEWHERE,
    ("evaluation/result.py", "Evaluation._title"): SHOWN,
    ("evaluation/result.py", "Evaluation._tie_error"): SHOWN,
    ("evaluation/scores.py", "_checked"): REFUSAL,
    ("evaluation/significance.py", "with_weight"): "whether weights must be copied",
    ("evaluation/significance.py", "bootstrap_interval"): ELSEWHERE,
    ("evaluation/significance.py", "randomisation_test"): ELSEWHERE,
    ("evaluation/significance.py", "_signed_sums"): ELSEWHERE,
    ("evaluation/ties.py", "RankedDocuments.__init__"): EACH,
    ("evaluation/ties.py", "RankedDocuments.tied_queries"): EACH,
    ("evaluation/ties.py", "_Job.__init__"): EACH,
    ("evaluation/ties.py", "document_id_keys"): EACH,
    ("forces/forces.py", "TermForces._add"): EACH,
    ("forces/forces.py", "Forces.n_pairs"): ADDED,
    ("forces/giant_queries.py", "_cuts"): EACH,
    ("forces/pairs.py", "PairRanges.of"): "some queries at a time, and a number of pairs that callers add up",
    ("forces/pairs.py", "_strata"): "numbers that only tell documents of one query apart",
    ("forces/position_weights.py", "PositionWeights._of_clicks"): REFUSAL,
    ("forces/preference_forces.py", "PreferenceForces.n_pairs"): ADDED,
    ("measures/cndcg.py", "CNDCG.worth"): REFUSAL,
    ("measures/expected_reciprocal_rank.py", "ERR.worth"): REFUSAL,
    ("measures/gains.py", "gains"): REFUSAL,
    ("measures/judged.py", "LabelSource.__init__"): EACH,
    ("measures/judged.py", "LabelSource.labelled"): EACH,
    ("measures/judged.py", "LabelSource.ideal_order"): EACH,
    ("measures/judged.py", "JudgedMeasure.__init__"): REFUSAL,
    ("measures/judged.py", "JudgedMeasure._check_numbers"): REFUSAL,
    ("measures/mean.py", "QueriesInMean.means"): ELSEWHERE,
    ("measures/measure.py", "Measure.check"): ALIKE,
    ("measures/measure.py", "Measure.written_form"): ALIKE,
    **{
        ("measures/method_check.py", name): MADE_ALIKE
        for name in ("_changes", "_compare_changes", "_expected_value", "_normaliser", "_values", "_written")
    },
    ("models/provenance.py", "feature_ranges"): ADDED,
    ("objectives/objective.py", "Objective.check_pulls"): ALIKE,
    ("objectives/position_bias.py", "JointRatios.ratios"): GATHERED,
    ("objectives/position_bias.py", "JointRatios._ratio"): GATHERED,
    ("rankers/mart.py", "MART.balanced_error"): ELSEWHERE,
    ("rankers/mart.py", "MART._targets"): REFUSAL,
    ("stores/binned_dataset.py", "BinnedDataset.__init__"): ALIKE,
    ("stores/binned_dataset.py", "BinnedDataset.take_queries"): EACH,
    ("sweeping/pieces.py", "Pieces.add"): GATHERED,
    ("sweeping/pieces.py", "Pieces._keep_best"): GATHERED,
    ("sweeping/pieces.py", "Pieces._keep_narrow"): GATHERED,
    ("sweeping/pieces.py", "Pieces._note"): GATHERED,
    ("sweeping/sweep.py", "Scaled.paired_with"): ELSEWHERE,
    ("sweeping/sweep.py", "check_sizes"): ELSEWHERE,
    ("sweeping/sweep.py", "_nearest"): "the smallest is the largest of the negative, which is asked for",
    ("training/graded_monitoring.py", "GradedWatch._choose"): GATHERED,
    ("training/refitting.py", "_growth"): ELSEWHERE,
    ("training/usual_measure.py", "fitting_measure"): ALIKE,
    ("training/weight_search.py", "WeightSearch._result_table"): SHOWN,
    ("trees/grower.py", "Grower.grow"): REFUSAL,
    ("trees/grower.py", "Grower.growing"): WORK,
    ("trees/grower.py", "_directions"): REFUSAL,
    ("trees/grower.py", "_ways_of_adding"): WORK,
    ("trees/grower.py", "_per_document"): REFUSAL,
    ("trees/histogram_pool.py", "HistogramPool.symmetric"): WORK,
    ("trees/shared_growth.py", "LevelwiseGrowth.best_of_mine"): "of own columns, whose best is told to all",
    ("trees/shared_growth.py", "LevelwiseGrowth.counted"): ADDED,
}

NOT_FOLLOWED = "what an own function returns is not followed"

# Calls of the collective whose local answer would not be seen here, but by the crowds of test_collective_mutants.
UNSEEN = {
    ("boosting/course.py", "total(self.data.n_documents)"): SHOWN,
    ("diagnostics/instruments.py", "totals(some, everything)"): "numbers that are handed over",
    (
        "evaluation/significance.py",
        "total(len(with_weight(differences, weights)[0]))",
    ): "test_same_difference_everywhere",
    ("forces/anchor.py", "union(term.standing)"): "numbers that another file makes",
    ("measures/judged.py", "anybody(self._ideal_order is not self.source.label_order)"): "no number of documents",
    ("measures/judged.py", "union(both)"): "written into an array",
    ("measures/method_check.py", "anybody(now not in known)"): "no number of documents",
    ("rankers/mart.py", "anybody(not np.array_equal(targets, self._target_of_everybody(labels)))"): REFUSAL,
    ("sweeping/sweep.py", "total(int(last.sum()))"): NOT_FOLLOWED,
    ("sweeping/sweep.py", "highest(-bits)"): "found before: see _nearest",
    ("training/loop.py", "anybody(iteration.stopped or interruption.wanted)"): "no number of documents",
    ("training/loop.py", "anybody(iteration.interrupted or interruption.wanted)"): "no number of documents",
    ("training/weight_search.py", "anybody(interruption.wanted)"): "no number of documents",
    ("trees/grower.py", "highest(default_threads(), -histogram_bytes)"): "no number of documents",
    ("trees/grower.py", "total(len(documents))"): "written into an array",
    ("trees/quantised.py", "highest(*(top for top, _ in ends), any((below for _, below in ends[1:])))"): NOT_FOLLOWED,
    ("trees/quantised.py", "totals(*sums)"): NOT_FOLLOWED,
    ("trees/quantised.py", "totals(*counts)"): NOT_FOLLOWED,
}


def modules_of_trainings():
    """Files that the rankers import, of those that several can train, directly or not."""
    files = {"rankforce." + relative(path).removesuffix(".py").replace("/", "."): relative(path) for path in sources()}
    imports = collections.defaultdict(set)
    for one in IMPORTS:
        if one.module in files and not one.for_types_only:
            imports[one.file].add(files[one.module])
    waiting = [files[ranker.__module__] for ranker in ranker_classes().values() if ranker().learns_together]
    found = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += imports[file]
    return found


def known(file):
    return file.startswith(LOOKED_AT) or file.startswith(tuple(NOT_LOOKED_AT))


def looked_at():
    return [path for path in sources() if relative(path).startswith(LOOKED_AT)]


def test_every_module_that_trainings_import_has_a_place():
    modules = modules_of_trainings()
    assert {"boosting/course.py", "forces/forces.py", "trees/grower.py", "training/loop.py"} <= modules
    wrong = [file for file in modules if not known(file)]
    assert not wrong, "look at them, or say why not: LOOKED_AT, NOT_LOOKED_AT"


def test_every_module_that_runs_while_members_train_has_a_place():
    """Also what is found by its name and not imported: measures, λ-functions."""
    root = str(sources()[0].parent) + "/"
    seen = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            seen.add(frame.f_code.co_filename.removeprefix(root))

    def train(rank):
        mine = PLAIN.take_queries(np.arange(rank, PLAIN.n_queries, 2)), HELD_OUT.take_queries([rank, rank + 2])
        sys.setprofile(note)
        try:
            learned(rf.LambdaMART("KendallTau", n_trees=2, progress=False), *mine)
        finally:
            sys.setprofile(None)

    Crowd(2).run(train)
    assert "measures/concordance.py" in seen
    assert not {file for file in seen if not known(file)}


def test_decisions_by_own_documents_are_on_purpose():
    found = collections.defaultdict(list)
    for path in looked_at():
        for one in local_decisions(path.read_text()):
            found[relative(path), one.function].append(f"line {one.line}, {one.kind}: {one.text}")
    wrong = {place: lines for place, lines in found.items() if place not in LOCAL_ON_PURPOSE}
    assert not wrong, "ask rankforce.collective, or say in LOCAL_ON_PURPOSE why each member may decide this for itself"
    gone = [place for place in LOCAL_ON_PURPOSE if place not in found]
    assert not gone, "nothing is decided there any more"


FUNCTION = "def work(data, labels: np.ndarray, weights: np.ndarray | None = None):\n"

LOCAL = {
    "few documents": "if data.n_documents < 20_000:\n    return 'symmetric'",
    "few documents, in an expression": "return 'symmetric' if data.n_documents < 20_000 else 'leafwise'",
    "few documents, by a name": "n = data.n_documents\nif n < 20_000:\n    return 'symmetric'",
    "no query": "if not data.n_queries:\n    return None",
    "no entry": "if len(labels) == 0:\n    return None",
    "an empty array": "if labels.size:\n    return None",
    "a loop": "while len(labels) > limit:\n    labels = labels[::2]",
    "a filter": "return [name for name in names if data.n_queries > 5]",
    "an assertion": "assert data.n_documents > 1",
    "any": "everything = weights.all()",
    "all": "if (weights[labels > 0] == 1.0).all():\n    return None",
    "the largest": "top = int(labels.max())",
    "the smallest by NumPy": "low = np.min(data.labels['grades'])",
    "a sum": "whole = weights.sum()",
    "a mean": "base = float(data.by_query(labels).mean())",
    "an exact sum": "base = math.fsum(weights * labels)",
    "a sum by columns": "sums = data.features.sum(axis=0)",
    "a built-in sum": "whole = sum(data.query_sizes)",
    "a count": "some = np.count_nonzero(np.isnan(labels))",
    "different labels": "grades = np.unique(labels)",
    "a share": "mean = total(3) / data.n_documents",
    "a number of digits": "bits = data.n_documents.bit_length()",
    "a bounded number": "count = max(1, len(labels))",
    "a number that is handed on": "scales = scales_of(forces, data.n_documents)",
    "what ranges of documents give": (
        "parts = []\ndef add(first, last):\n    parts.append(sums_of(first, last))\n"
        "over_ranges(9, add)\nreturn np.sum(parts, axis=0)"
    ),
    "nothing that is right": "if not weights.any():\n    raise DataError('nothing to learn from')",
    "too little": "if data.n_documents < 2:\n    raise DataError('too few')",
    "a refusal with something else to do": "if weights.any():\n    raise DataError\nelse:\n    x = labels.max()",
    "beside a shared number": "if total(data.n_documents) > 5 and data.n_queries > 1:\n    return None",
}

SHARED = {
    "few documents": "if total(data.n_documents) < 20_000:\n    return 'symmetric'",
    "by a name": "n = total(data.n_documents)\nif n < 20_000:\n    return 'symmetric'",
    "any": "if not anybody(bool(weights.any())):\n    raise DataError('nothing to learn from')",
    "all": "everything = everybody(bool((weights == 1.0).all()))",
    "the largest": "(top,) = highest(int(labels.max(initial=0)))",
    "an exact sum": "base = exact_total(weights * labels) / exact_total(weights)",
    "different labels": "grades = np.searchsorted(union(labels), labels)",
    "a sum of arrays": "sums = collective().add(data.features.sum(axis=0))",
    "something wrong": "if (labels < 0).any():\n    raise DataError('a negative label')",
    "something not right": "if not np.isfinite(labels).all():\n    raise DataError('no number')",
    "something wrong, counted": "if len(np.flatnonzero(labels < 0)):\n    raise DataError('a negative label')",
    "arrays of so many entries": "scores = np.zeros(data.n_documents)\nscores[labels > 0] = 1.0",
    "a walk": "for query in range(data.n_queries):\n    work_on(query)",
    "ranges": "over_ranges(len(labels), work)",
    "absence": "if weights is None:\n    weights = np.ones(len(labels))",
    "a number per document": "norms = data.features.max(axis=1)",
    "features": "if data.n_features == 0:\n    raise DataError('nothing to rank by')",
    "settings": "if settings.n_leaves > 31:\n    return None",
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_decision_is_found(name):
    assert local_decisions(FUNCTION + textwrap.indent(LOCAL[name], "    "))


@pytest.mark.parametrize("name", SHARED)
def test_what_goes_through_the_seam_is_none(name):
    assert local_decisions(FUNCTION + textwrap.indent(SHARED[name], "    ")) == []


def test_attributes_are_followed_from_method_to_method():
    source = """
class Learner:
    def __init__(self, data, labels: np.ndarray):
        self.known = labels[data.rows]
        (self.longest,) = highest(int(data.query_sizes.max()))

    def short(self):
        return self.longest < 5

    def step(self):
        return 1.0 if len(self.known) > 3 else 0.0
"""
    assert [one.function for one in local_decisions(source)] == ["Learner.step"]


class Localised(ast.NodeTransformer):
    """The collective's call of a number, replaced by what a member would have without it."""

    LOCAL = ("total", "totals", "highest", "anybody", "everybody", "exact_total", "union")

    def __init__(self, number):
        self.number, self.met, self.call = number, 0, None

    def visit_Call(self, node):
        if not isinstance(node.func, ast.Name) or node.func.id not in self.LOCAL:
            return self.generic_visit(node)
        self.met += 1
        if self.met - 1 != self.number:
            return self.generic_visit(node)
        self.call, name = ast.unparse(node), node.func.id
        if name in ("totals", "highest"):
            return ast.List(node.args, ast.Load())
        local = {"exact_total": "math.fsum", "union": "np.unique"}.get(name, "")
        return ast.parse(f"{local}({ast.unparse(node.args[0])})").body[0].value


def test_most_calls_of_the_collective_would_be_missed():
    """Each is taken away: then something is found that was not there, or it is known that it is not seen."""
    unseen, seen = set(), 0
    for path in looked_at():
        source = path.read_text()
        before = collections.Counter(one._replace(line=0) for one in local_decisions(source))
        number = 0
        while True:
            localised = Localised(number)
            tree = localised.visit(ast.parse(source))
            if localised.call is None:
                break
            number += 1
            after = collections.Counter(one._replace(line=0) for one in local_decisions(ast.unparse(tree)))
            if after - before:
                seen += 1
            else:
                unseen.add((relative(path), localised.call))
    assert seen > 60
    assert unseen == UNSEEN.keys()
