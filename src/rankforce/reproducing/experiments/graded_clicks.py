"""A graded objective: clicks as a second tier below grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.evaluation.evaluate import evaluate
from rankforce.reproducing.boosted_objectives import (
    DATA,
    FULL,
    PAPER_SIZE,
    SHARES_OF_CLICKS,
    TINY,
    graded,
    lambdamart,
    size_of_boosting,
)
from rankforce.reproducing.click_data import SOURCES, clicked_queries
from rankforce.reproducing.data_sets import Parts
from rankforce.reproducing.drawing import difference_bars, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import NDCGS, measured
from rankforce.reproducing.papers import MULTIPLE_OBJECTIVES
from rankforce.reproducing.real_data import MSLR_CLICKS
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, alike, significant

ORDER = 4
CNDCGS = tuple(f"CNDCG@{cut}" for cut in range(1, 11))
BASELINE, GRADED = "NDCG alone", "graded"
RISES = {  # of CNDCG in the paper, by cut-off
    "equal queries": (0.0457, 0.0403, 0.0363, 0.0340, 0.0321, 0.0309, 0.0300, 0.0291, 0.0286, 0.0278),
    "similar queries": (0.0499, 0.0419, 0.0410, 0.0392, 0.0381, 0.0371, 0.0368, 0.0366, 0.0358, 0.0354),
}
PAPER = {  # NDCG@3, NDCG@10, CNDCG@3, CNDCG@10 of the first click label
    BASELINE: (0.6166, 0.6517, 0.4312, 0.4559),
    GRADED: (0.6177, 0.6515, 0.4675, 0.4837),
}


class GradedClicks(Experiment):
    name = "graded-clicks"
    paper = MULTIPLE_OBJECTIVES
    place = "Table 1"
    title = "Graded objective: NDCG first, then clicks, for two sources of clicks"
    found = (
        "For clicks of equal and of similar queries, the graded objective leaves NDCG as it is and raises CNDCG "
        "significantly, by 3 to 5 points, at all ten cut-offs."
    )
    published = [
        {"arm": arm, "measure": measure, "value": value}
        for arm, values in PAPER.items()
        for measure, value in zip(("NDCG@3", "NDCG@10", "CNDCG@3", "CNDCG@10"), values, strict=True)
    ]
    data = DATA
    paper_size = PAPER_SIZE
    remarks = "the paper's similar queries come from logs; here they are users whose intents scatter."
    real = (MSLR_CLICKS,)
    figsize = (8.0, 3.2)
    revised = (
        "that CNDCG rises could not be told for either source, though it was measured to some thousandths that it "
        "hardly does, where the paper has 3 to 5 hundredths. Now an interval below a third of what the paper found "
        "differs. The rule was changed on unchanged rows; all was run anew since."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.05, shares=(0.1, 0.3), **TINY),
        "quick": Size(seeds=3, minutes=0.7, shares=SHARES_OF_CLICKS, queries=(300, 500, 2000), documents=40, trees=100,
                      leaves=15, least=30, rate=0.2),
        "full": Size(seeds=5, minutes=900, shares=SHARES_OF_CLICKS, **FULL),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(SOURCES)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        return compared(clicked_queries(size.queries, size.documents, seed), part, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return [{**row, "part": part} for part in SOURCES for row in compared(fold, part, size)]

    def claims(self) -> Sequence[Claim]:
        found = []
        for part in SOURCES:
            found += [
                significant(
                    f"clicks of {part}: CNDCG rises", GRADED, BASELINE, CNDCGS,
                    paper=dict(zip(CNDCGS, RISES[part], strict=True)), part=part,
                ),
                alike(f"clicks of {part}: NDCG stays", GRADED, BASELINE, ["NDCG@3", "NDCG@10"], margin=0.01, part=part),
            ]  # fmt: skip
        return found

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, part in zip(figure.subplots(1, 2, sharey=True), SOURCES, strict=True):
            panel(axes, f"clicks of {part}: graded − NDCG alone", "cut-off", "change, 95 %")
            mine = rows.where(part=part)
            for measures, name in ((CNDCGS, "CNDCG"), (NDCGS, "NDCG")):
                named = Rows({**row, "arm": name} for row in mine.where(kind="difference", measure=tuple(measures)))
                difference_bars(axes, named, [(name, BASELINE)], measures)
            for number, line in enumerate(axes.containers):
                for artist in (line[0], *line[1], *line[2]):
                    artist.set_color(f"C{number}")
                line.set_label(("CNDCG", "NDCG")[number])
            legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return size_of_boosting(size) | {"shares of clicks tried": ", ".join(f"{share:g}" for share in size.shares)}

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        few = rows.where(kind="mean", measure=("NDCG@1", "NDCG@3", "NDCG@10", "CNDCG@1", "CNDCG@3", "CNDCG@10"))
        return [("" if part == "equal queries" else f"clicks of {part}", few.where(part=part)) for part in SOURCES]


def compared(data: Parts, part: str, size: Size) -> list[Row]:
    source = SOURCES[part]
    alone = lambdamart(size).fit(data.train)
    tried = {share: lambdamart(size, graded(source, share)).fit(data.train) for share in size.shares}
    watched = {share: evaluate(one, data.valid, ["NDCG@3"]).mean["NDCG@3"] for share, one in tried.items()}
    chosen = max(watched, key=watched.__getitem__)
    names = [*NDCGS, *(f"{name}:{source}" for name in CNDCGS)]
    rows = measured({BASELINE: alone, GRADED: tried[chosen]}, data.test, names, [(GRADED, BASELINE)], share=chosen)
    return [{**row, "measure": row["measure"].partition(":")[0]} for row in rows]
