"""Sentences of docs/experiments.md that no run can write: why results differ, as far as we know; what is missing.

They have no results in them: those stand in tables, which are written from runs.
"""

from __future__ import annotations

WHY: dict[str, str] = {
    "lambda-functions": (
        "Eq. 11 lets a pair pull for MRR only if a relevant document would rise above the first one: one to two "
        "magnitudes fewer pairs than any other λ-function has here (see effective-pairs and pairs-by-lambda-function). "
        "With 300 training queries in place of 5,000 this is too little; for MRR, SpringSmooth is RankNet, with all "
        "pairs. For MAP, whose pairs are many, RankNetWeightPairs is among the best."
    ),
    "local-optimality": (
        "with two layers all measures pass on artificial data, and few directions ascend on the larger web set; linear "
        "nets do not pass. A linear net on a cubic truth leaves many documents close to each other, and with hundreds "
        "of queries in place of ten thousand the forces come to rest a little beside the highest mean: most directions "
        "that ascend gain little. For MRR gains are larger: by Eq. 11 nothing holds the first relevant document where "
        "it is, and one of the web nets never learned. And of directions in 15 dimensions more ascend than of those in "
        "300 or 420."
    ),
    "single-weights": (
        "as local-optimality: with two layers NDCG, NDCG@10 and MAP pass on artificial data, by steps up to the norm "
        "of the weights; nothing passes by steps up to a tenth of it. A mean over hundreds of queries is a staircase "
        "whose highest step lies a little beside where the forces come to rest, and small steps find it; what is "
        "gained is small, but for MRR. A single weight ascends more often than a random direction, most of which lead "
        "away from everything that was learned. The paper does not say how far it moved a weight."
    ),
    "train-test-measures": (
        "training for NDCG, NDCG@10 and MAP hardly differ on any test measure with 300 and 660 training queries; the "
        "paper's differences are small, too, but its test had 10,000 queries and its training 10,000 and 22,000. What "
        "is large here is large there: training for MRR is worst, for MRR, too; less so with more data."
    ),
    "early-weights": (
        "weights trained for MRR by Eq. 11 are so far from good for NDCG@10 that a few directions still lead up; the "
        "weights of early epochs pass, or nearly."
    ),
    "late-learning": (
        "artificial grades are a function of the features: irrelevant documents are soon far below, where RankNet's "
        "force vanishes, and most of the force on grades 3 and 4 comes from their nearest competitors, of grade 2. Web "
        "labels are noisy, and irrelevant documents stay near."
    ),
    "changing-objectives": (
        "the gradient step is a little below Newton's, and schedules are level with the gradient step. "
        "docs/objectives.md has the longer study, with 20 draws and rates swept: there the gradient step is above "
        "Newton's with 100 training queries and below with 1,000, and all differences are small. The paper's leaves "
        "hold at least 6,000 documents of 19 million, and its 1,000 trees run long past the point where artificial "
        "data is learned; what it finds may need that. That the sigmoid cost for NDCG is far better than that for "
        "NDCG@3 is as in the paper."
    ),
    "training-set-size": "as changing-objectives: the gradient step is below Newton's, and the schedule below both.",
    "label-noise": (
        "the slides had 40,000 training queries, here there are 2,000: noise averages out with more data, and the "
        "slides do not show their confusion matrix. Most of what is lost on confused labels is not lost on clean ones, "
        "as there."
    ),
}
WHY_REAL: dict[str, str] = {
    "force-agreement": (
        "the forces agree more often than in the paper, not less: most documents of the sample were never clicked, and "
        "clicks and grades mostly go together. Tied pairs agree more often still, as there."
    ),
    "late-learning": (
        "grades 3 and 4 are rare here: most queries have fewer than three such documents, and even the best order has "
        "few on top. The share of the force that comes from grades 0 and 1 is the paper's, or nearly: what differs on "
        "generated data does not on web data."
    ),
    "lambda-functions": "as on generated data: for MRR, few pairs pull by Eq. 11, and 150 training queries are few.",
}
WHY_FULL: dict[str, str] = {
    "err-consistency": (
        "a drop is the difference of two sums, and what lies below nought is the last bit of their rounding. The rule "
        "allows none, and was not changed when this was seen."
    ),
}
MISSING: tuple[str, ...] = (
    "Local optimality, Figures 1 to 4: the paper's second web set; here a larger one of the same generator stands in.",
)
