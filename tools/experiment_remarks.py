"""Sentences of docs/experiments.md that no run can write: why results differ, as far as we know; what is missing."""

from __future__ import annotations

WHY: dict[str, str] = {
    "lambda-functions": (
        "Eq. 11 lets a pair pull for MRR only if a relevant document would rise above the first one: 1 to 2 magnitudes "
        "fewer pairs than any other λ-function has here (see effective-pairs and pairs-by-lambda-function). With 300 "
        "training queries in place of 5,000 this is too little; for MRR, SpringSmooth is RankNet, with all pairs. "
        "For MAP, whose pairs are many, RankNetWeightPairs is above LocalGradient, LocalCost and DiscreteBounded, as "
        "in the paper, and level with SpringSmooth."
    ),
    "local-optimality": (
        "with two layers all measures pass on artificial data, and all but one or two directions on the larger web "
        "set; linear nets do not pass. A linear net on a cubic truth leaves many documents close to each other, and "
        "with hundreds of queries in place of ten thousand the forces come to rest a little beside the highest mean: "
        "what a direction gains is mostly below 0.005. For MRR, linear, it is up to 0.05: by Eq. 11 nothing holds the "
        "first relevant document where it is. And of directions in 15 dimensions more ascend than of those in 300 or "
        "420."
    ),
    "train-test-measures": (
        "training for NDCG, NDCG@10 and MAP differ by at most .004 on any test measure, with 300 and 660 training "
        "queries; the paper's differences are as small, but its test had 10,000 queries and its training 10,000 and "
        "22,000. What is large here is large there: training for MRR is worst, for MRR, too; less so with more data."
    ),
    "early-weights": (
        "weights trained for MRR by Eq. 11 are so far from good for NDCG@10 (0.42 against 0.8) that a few directions "
        "still lead up; the weights of early epochs pass, or nearly."
    ),
    "late-learning": (
        "artificial grades are a function of the features: irrelevant documents are soon far below, where RankNet's "
        "force vanishes, and most of the force on grades 3 and 4 comes from their nearest competitors, of grade 2. Web "
        "labels are noisy, and irrelevant documents stay near."
    ),
    "changing-objectives": (
        "the gradient step is .005 to .007 below Newton's, and schedules are level with the gradient step. "
        "docs/objectives.md has the longer study, with 20 draws and rates swept: there the gradient step is above "
        "Newton's with 100 training queries and below with 1,000, and nothing differs by more than .005. The paper's "
        "leaves hold at least 6,000 documents of 19 million, and its 1,000 trees run long past the point where "
        "artificial data is learned; what it finds may need that. That the sigmoid cost for NDCG is far better than "
        "that for NDCG@3 is as in the paper."
    ),
    "training-set-size": (
        "as changing-objectives: the gradient step is below Newton's by .003 to .008, and the schedule below both."
    ),
    "label-noise": (
        "twice confused labels cost .05 to .09 of NDCG@10 on clean ones, a fifth of what is lost on confused ones; "
        "once confused, a tenth and less. The slides had 40,000 training queries, here there are 2,000: noise averages "
        "out with more data, and the slides do not show their confusion matrix."
    ),
}
MISSING: tuple[str, ...] = (
    "Local optimality, Figures 1 to 4: the paper's second web set; here a larger one of the same generator stands in.",
)
