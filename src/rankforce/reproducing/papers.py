"""The papers whose tables and figures are run again."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Paper:
    authors: str
    title: str
    published: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.title} ({self.published})"


NONSMOOTH = Paper("Burges, Ragno and Le", "Learning to Rank with Nonsmooth Cost Functions", "NIPS 2006")
LOCAL_OPTIMALITY = Paper("Donmez, Svore and Burges", "On the Local Optimality of LambdaRank", "SIGIR 2009")
MULTIPLE_OBJECTIVES = Paper(
    "Svore, Volkovs and Burges", "Learning to Rank with Multiple Objective Functions", "WWW 2011"
)
WEB_SEARCH = Paper("Burges", "Learning to Rank for Web Search", "slides, IPAM 2007")
OVERVIEW = Paper("Burges", "From RankNet to LambdaRank to LambdaMART: An Overview", "MSR-TR-2010-82")

PAPERS = (NONSMOOTH, LOCAL_OPTIMALITY, MULTIPLE_OBJECTIVES, WEB_SEARCH, OVERVIEW)
