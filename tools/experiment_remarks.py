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
        "two layers mostly pass, linear nets do not. A linear net on a cubic truth leaves many documents close to each "
        "other, and with hundreds of queries in place of ten thousand the forces come to rest a little beside the "
        "highest mean: what a direction gains is mostly below 0.005. MRR is another matter: with Eq. 11 nothing holds "
        "the first relevant document where it is, and linear weights can gain up to 0.05. And of "
        "directions in 15 dimensions more ascend than of those in 300 or 420."
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
}
MISSING: tuple[str, ...] = (
    "An overview, Section 5: a number of leaves of its own for every tree (`n_leaves` is one number).",
    "Local optimality, Figures 1 to 4: the paper's second web set; here a larger one of the same generator stands in.",
)
