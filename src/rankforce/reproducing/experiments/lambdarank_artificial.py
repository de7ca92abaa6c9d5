"""LambdaRank against RankNet on random cubic polynomials."""

from __future__ import annotations

from collections.abc import Mapping

from rankforce.reproducing.data_sets import Parts, artificial, queries_in_words
from rankforce.reproducing.experiment import Size
from rankforce.reproducing.net_comparison import NetComparison
from rankforce.reproducing.papers import NONSMOOTH

ORDER = 3


class LambdaRankArtificial(NetComparison):
    name = "lambdarank-artificial"
    paper = NONSMOOTH
    place = "Figure 2, left"
    title = "LambdaRank against RankNet, artificial data"
    found = "On clean data LambdaRank clearly outperforms RankNet, with linear nets and with two layers."
    data = "the paper's: random cubic polynomials of uniform features, five grades with the shares of web data"
    paper_size = {
        "queries (train / validation / test)": "10,000 / 5,000 / 10,000", "documents per query": "50",
        "features": "50", "hidden units": "10", "epochs": "300",
    }  # fmt: skip
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(40, 30, 60), documents=20, features=10, epochs=3,
                     rates=(0.01,), preset=None),
        "quick": Size(seeds=3, minutes=0.43, queries=(1000, 500, 1500), documents=50, features=50, epochs=40,
                      rates=(0.0003, 0.001, 0.003), preset=None),
        "full": Size(seeds=3, minutes=180, queries=(10_000, 5_000, 10_000), documents=50, features=50, epochs=300,
                     rates=(), preset="2006"),
    }  # fmt: skip

    def data_of(self, seed: int, size: Size) -> Parts:
        return artificial(size.queries, size.documents, size.features, seed)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries (train / validation / test)": queries_in_words(size.queries),
            "documents per query": str(size.documents), "features": str(size.features), "hidden units": "10",
            "epochs": str(size.epochs),
        }  # fmt: skip
