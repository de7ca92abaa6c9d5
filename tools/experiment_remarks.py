"""Sentences of docs/experiments.md that no run can write: why results differ, as far as we know; what is missing.

They have no results in them: those stand in tables, which are written from runs.
"""

from __future__ import annotations

WHY: dict[str, str] = {
    "lambdarank-web": (
        "two-layer RankNet is above linear LambdaRank at every cut-off, from the sixth on by little more than the "
        "margin of the rule. Generated grades are a nonlinear function of a few causes, and a second layer is worth "
        "more than the measure in the force; on the paper's data the two were worth the same."
    ),
    "lambdarank-small-data": (
        "on generated data the order of the means is the other one at every cut-off, though not significantly; on "
        "MQ2008 it is the paper's. The generated data has a noise of our choosing, and both nets see pairs of few "
        "queries."
    ),
    "lambda-functions": (
        "training for MRR by Eq. 11 fails here, and not for want of pairs: LocalCost and LocalGradient have fewer (see "
        "pairs-by-lambda-function) and do better. By Eq. 11 relevant documents pull only while another stands above "
        "them, and nothing holds the first one where it is. experiments/mrr_swaps.py compares it with all swaps that "
        'change MRR: by Adam and by the paper\'s own way to train (preset="2009", with rates up to ten times its '
        "highest) alike, training MRR by Eq. 11 stays far below what all swaps reach on every draw, and test MRR with "
        "it; with all swaps it is a little below training for NDCG, as in the paper's tables. So it is the direction "
        "of swaps, not Adam nor the data alone; why the paper's nets learned by it is not known. For MRR, SpringSmooth "
        "is RankNet, with all pairs. For MAP RankNetWeightPairs is among the best."
    ),
    "local-optimality": (
        "with two layers all measures pass on artificial data, and few directions ascend on the larger web set; linear "
        "nets do not pass. A linear net on a cubic truth leaves many documents close to each other, and with hundreds "
        "of queries in place of ten thousand the forces come to rest a little beside the highest mean: most directions "
        "that ascend gain little. For MRR linear nets gain more: training by Eq. 11 fails (see lambda-functions). With "
        "two layers no direction ascends for MRR in this run; in one on another processor, whose last bits differ, a "
        "web net had never learned, and the claim differed. And of directions in 15 dimensions more ascend than of "
        "those in 300 or 420."
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
        "paper's differences are small, too, but for NDCG@10, where training for NDCG gains much with the smaller set: "
        "here it does not. The paper's test had 10,000 queries and its training 10,000 and 22,000. What is large here "
        "is large there: training for MRR is worst, for MRR, too. Here that is a failure of training by Eq. 11 (see "
        "lambda-functions), so that its agreement with the paper tells little."
    ),
    "early-weights": (
        "weights trained for MRR by Eq. 11, which fails here (see lambda-functions), are so far from good for NDCG@10 "
        "that a few directions still lead up; the weights of early epochs pass, or nearly."
    ),
    "pairs-by-lambda-function": (
        "SpringSmooth has a force of at least RankNet's on every pair of different grades, whether a swap changes the "
        "measure or not: it has as many for NDCG and more for the others. Of the λ-functions without such a floor "
        "none has more than RankNetWeightPairs. The paper asks; it does not claim."
    ),
    "late-learning": (
        "artificial grades are a function of the features: irrelevant documents are soon far below, where RankNet's "
        "force vanishes, and most of the force on grades 3 and 4 comes from their nearest competitors, of grade 2. Web "
        "labels are noisy, and irrelevant documents stay near. What stands on top after ten trees is reached later "
        "here: with 250 training queries, at least 300 documents in a leaf leave few leaves. Many more ranks change "
        "late than in the paper, whose share may count changes in another way: here a rank has changed if another "
        "document stands there than an iteration before."
    ),
    "graded-clicks": (
        "the share of clicks is chosen by validation NDCG alone, and mostly the smallest is chosen: clicks then hardly "
        "move the ranking. Here clicks know of a taste that grades know nothing of; how much the paper's clicks and "
        "grades have in common is not told. On real clicks of similar queries CNDCG does rise."
    ),
    "training-set-size": (
        "the gradient step is below Newton's, and the schedule below both. The learning rate is the same for all three "
        "and not swept, and the schedule is one of many: where both were swept, in changing-objectives, none is below "
        "Newton's step significantly. On MQ2008 two of the three claims agree."
    ),
}
WHY_REAL: dict[str, str] = {
    "force-agreement": (
        "the forces agree more often than in the paper, not less: most documents of the sample were never clicked, and "
        "clicks and grades mostly go together. Tied pairs agree more often still, as there."
    ),
    "late-learning": (
        "grades 3 and 4 are rare here: most queries have fewer than three such documents, and even the best order has "
        "few on top. Ten trees on a hundred queries, with large leaves, order the top less than the paper's did. The "
        "share of the force that comes from grades 0 and 1 is the paper's, or nearly: what differs on generated data "
        "does not on web data. Of the whole list as much changes late as on generated data."
    ),
    "lambda-functions": "as on generated data: training for MRR by Eq. 11 fails, and 150 training queries are few.",
}
WHY_FULL: dict[str, str] = {
    "err-consistency": (
        "a drop is the difference of two sums, and what lies below nought is the last bit of their rounding: the swap "
        "that trains is a product of the two documents' difference, and is never below it. The rule allows none, and "
        "was not changed when this was seen."
    ),
}
MISSING: tuple[str, ...] = (
    "Nonsmooth cost functions, Figure 2, left: whether the gap changes with the cut-off, which is another way to read "
    "the sentence on relevance levels.",
    "Local optimality, Tables 1 and 2: nets trained as published, for time.",
    "Web search slides, XRank: that a best split takes time linear in the documents.",
    "Local optimality, Figures 1 to 4: the paper's second web set; here a larger one of the same generator stands in.",
)
