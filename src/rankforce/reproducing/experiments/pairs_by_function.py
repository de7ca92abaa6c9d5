"""How many pairs each λ-function learns from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.diagnostics.effective_pair_counts import effective_pairs
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.data_sets import artificial_queries
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed
from rankforce.reproducing.trained_nets import MEASURES

ORDER = 8
BEST = "RankNetWeightPairs"
FUNCTIONS = (BEST, "SpringSmooth", "Step", "Spring", "LocalCost(k=3)", "LocalGradient")


class PairsByFunction(Experiment):
    name = "pairs-by-lambda-function"
    paper = LOCAL_OPTIMALITY
    place = "Section 8"
    title = "Effective pairs by λ-function"
    found = 'A question left open: "it may be that RankNetWeightPairs employs the most effective training pairs".'
    data = "the paper's artificial data; grades from 2 on are relevant; scores of a linear net trained for NDCG"
    paper_size = {"queries": "–"}
    revised = (
        "pairs were counted that have a force and whose swap changes the measure. RankNetWeightPairs has a force "
        "wherever a swap does, so that no other could have more of them: the claim agreed by construction. The paper "
        "calls pairs with a non-zero λ-gradient effective, and these are now counted."
    )
    remarks = "listwise λ-functions (DiscreteBounded, FiniteDifference) have no pairs and are left out."
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=30, documents=10, features=5, epochs=2),
        "quick": Size(seeds=3, minutes=0.04, queries=1000, documents=50, features=20, epochs=20),
        "full": Size(seeds=3, minutes=10, queries=10_000, documents=50, features=300, epochs=50),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = artificial_queries(size.queries, size.documents, size.features, seed)
        ranker = LambdaRank("NDCG", hidden=0, epochs=size.epochs, seed=seed, progress=False).fit(data)
        table = effective_pairs(data, ranker.predict(data), list(MEASURES.values()), lambda_function=list(FUNCTIONS))
        rows: list[Row] = []
        for name, measure in MEASURES.items():
            for function in FUNCTIONS:
                found = table[measure, function]
                assert found.pulled is not None
                rows.append(
                    {"kind": "mean", "arm": function, "measure": name, "value": found.pulled / found.bound}
                    | {"pairs": found.pulled, "effective": found.effective}
                )
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed(
                "RankNetWeightPairs has the most pairs with a force", most_pairs,
                what="share of the measures at which it does", least=1.0,
            )
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, name in zip(figure.subplots(1, 4, sharey=True), MEASURES, strict=True):
            heights = [rows.mean(arm=function, measure=name) for function in FUNCTIONS]
            bars(panel(axes, name, "pairs / bound"), FUNCTIONS, heights)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{size.queries:,}", "documents per query": str(size.documents), "features": str(size.features),
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return (("pairs with a force as a share of the pairs that the measure can see", rows),)


def most_pairs(rows: Rows) -> float:
    wins = [
        rows.mean("pairs", arm=BEST, measure=name)
        >= max(rows.mean("pairs", arm=one, measure=name) for one in FUNCTIONS)
        for name in MEASURES
    ]
    return sum(wins) / len(wins)
