"""Does it pay to train for the measure that is reported?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.data_sets import Parts, web_like
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.real_data import LIGHTGBM, MSLR
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, Outcome, Verdict, best_of, over_seeds, significant
from rankforce.reproducing.trained_nets import MEASURES

ORDER = 5
TABLES = {"smaller": "Table 3", "larger": "Table 4"}
PAPER_GAPS = {  # of training for NDCG less training for the measure itself
    "MRR": {"smaller": 0.020, "larger": 0.011},
    "NDCG@10": {"smaller": 0.020, "larger": 0.004},
}


class TrainTestMeasures(Experiment):
    name = "train-test-measures"
    paper = LOCAL_OPTIMALITY
    place = "Tables 3 and 4"
    title = "Training measure against test measure"
    found = (
        "For NDCG and MAP, training for the test measure is best, with significance, with 10,000 and with 22,000 "
        "training queries. For MRR and NDCG@10 training for NDCG is better, less so with more data (MRR: .020, then "
        ".011; NDCG@10: .020, then .004)."
    )
    data = "generated with the kinds of features of web data; grades from 2 on are relevant"
    paper_size = {
        "training queries": "10,000 and 22,000", "test queries": "10,000", "documents per query": "158.7",
        "features": "420", "hidden units": "10",
    }  # fmt: skip
    remarks = "Adam; the rate and the epoch are chosen on validation queries by the training measure."
    real = (MSLR, LIGHTGBM)
    figsize = (8.0, 3.6)
    revised = (
        "NDCG@10 and, for MRR, Table 4 were not judged at first. The gap was said to narrow if it fell, also from "
        "nought to less: at NDCG@10 that agreed, though training for NDCG was not better in the smaller set for all "
        "seeds. Now there must be a gap, and its size counts. "
        "The rule was changed on unchanged rows; all was run anew since; the verdicts on NDCG and MAP did "
        "not change."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.03, queries=(20, 40, 20, 40), documents=(6, 12), features=8, epochs=2,
                     rates=(0.01,)),
        "quick": Size(seeds=3, minutes=0.5, queries=(300, 660, 300, 1500), documents=(20, 60), features=40, epochs=25,
                      rates=(0.001, 0.003, 0.01)),
        "full": Size(seeds=3, minutes=600, queries=(10_000, 22_000, 5000, 10_000), documents=(100, 217), features=420,
                     epochs=100, rates=(0.0003, 0.001, 0.003)),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(TABLES)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        few, many, valid, test = size.queries
        data = web_like((many, valid, test), size.documents, size.features, seed)
        if part == "smaller":
            data = Parts(data.train.take_queries(range(few)), data.valid, data.test)
        return self._compared(data, seed, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return self._compared(fold, number, size)

    def _compared(self, data: Parts, seed: int, size: Size) -> list[Row]:
        rankers = {name: self._fitted(measure, data, size, seed) for name, measure in MEASURES.items()}
        written = {measure: name for name, measure in MEASURES.items()}
        pairs = [(new, old) for new in MEASURES for old in MEASURES if new != old]
        rows = measured(rankers, data.test, list(MEASURES.values()), pairs)
        return [{**row, "measure": written[row["measure"]]} for row in rows]

    def _fitted(self, measure: str, data: Parts, size: Size, seed: int) -> Any:
        train: Dataset = data.train
        ranker = LambdaRank(
            measure, hidden=10, epochs=size.epochs, learning_rate=list(size.rates), seed=seed, progress=False
        )
        return ranker.fit(train, validation=data.valid)

    def claims(self) -> Sequence[Claim]:
        return [
            *(matched(name, f" ({table})", part=part) for part, table in TABLES.items() for name in ("NDCG", "MAP")),
            *(
                other_for(name, gap, f" ({TABLES[part]})", part=part)
                for name, gaps in PAPER_GAPS.items()
                for part, gap in gaps.items()
            ),
            *(narrowed(name) for name in PAPER_GAPS),
        ]

    def claims_of_real_data(self) -> Sequence[Claim]:
        return [matched("NDCG"), matched("MAP"), other_for("MRR"), other_for("NDCG@10")]

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, name in zip(figure.subplots(1, 4), MEASURES, strict=True):
            mine = rows.where(kind="mean", measure=name, part="larger")
            heights = [mine.mean(arm=arm) for arm in MEASURES]
            errors = [mine.mean("error", arm=arm) for arm in MEASURES]
            bars(panel(axes, f"tested by {name}"), [f"for {arm}" for arm in MEASURES], heights, errors)
            axes.set_xlim(min(heights) - 0.03, max(heights) + 0.01)
            axes.locator_params(axis="x", nbins=3)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        few, many, _, test = size.queries
        return {
            "training queries": f"{few:,} and {many:,}", "test queries": f"{test:,}",
            "documents per query": f"{size.documents[0]} to {size.documents[1]}", "features": str(size.features),
            "hidden units": "10", "epochs": str(size.epochs),
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return [
            (f"{part} training set; rows: trained for, columns: tested by", rows.where(kind="mean", part=part))
            for part in TABLES
        ]

    def tables_of_real_data(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return [("rows: trained for, columns: tested by", rows.where(kind="mean"))]


def matched(name: str, table: str = "", **where: Any) -> Claim:
    others = [one for one in MEASURES if one != name]
    return best_of(f"tested by {name}, training for it is best{table}", name, others, name, **where)


def other_for(name: str, gap: float | None = None, table: str = "", **where: Any) -> Claim:
    """``gap`` is the paper's."""
    statement = f"tested by {name}, training for NDCG is better than for {name}{table}"
    return significant(statement, "NDCG", name, [name], paper=None if gap is None else {name: gap}, **where)


def narrowed(name: str) -> Claim:
    """A gap that is there with less data, training for NDCG above training for the measure itself, and shrinks."""
    what = f"size of the gap with the smaller less that with the larger training set, {name}"
    shrinks = over_seeds(f"more data narrows the gap at {name}", lambda rows: _shrinking(name, rows), what=what)

    def judge(rows: Rows) -> Outcome:
        gaps = [_gap(name, "smaller", rows.where(seed=seed)) for seed in rows.distinct("seed")]
        found = shrinks.judge(rows)
        evidence = f"gap with the smaller set: {', '.join(format(gap, '+.4f') for gap in gaps)}; {found.evidence}"
        return Outcome(found.verdict if gaps and min(gaps) > 0.0 else Verdict.OPEN, evidence)

    rule = f"{shrinks.rule}; cannot be told unless the gap with the smaller set is above 0 for every seed"
    return Claim(shrinks.statement, rule, judge)


def _shrinking(name: str, rows: Rows) -> float:
    return abs(_gap(name, "smaller", rows)) - abs(_gap(name, "larger", rows))


def _gap(name: str, part: str, rows: Rows) -> float:
    return rows.mean(kind="difference", arm="NDCG", against=name, measure=name, part=part)
