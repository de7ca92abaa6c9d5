"""How a ranking graph grows, step by step: the simple, the full and the martingale form, and the earlier one."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.xrank.edges import LevelEdges
from rankforce.xrank.frontier import Frontier
from rankforce.xrank.graph import Change, Forked, Graph, Joined, Route, Split
from rankforce.xrank.ordered_split import best_ordered_split
from rankforce.xrank.sample import Sample

NEARLY = 1e-12  # of the ideal value: rounding alone


class Growth(abc.ABC):
    """A graph that grows. ``nodes`` are the nodes of the frontier, best first."""

    def __init__(self, sample: Sample, min_documents: int) -> None:
        self.sample = sample
        self.min_documents = min_documents
        self.graph = Graph()
        self.frontier = Frontier(sample)
        self.nodes: list[int] = [0]
        self.ideal = _ideal_value(sample)

    @property
    def perfect(self) -> bool:
        """Whether the training documents are ranked as well as can be."""
        return self.ideal - self.frontier.value() <= NEARLY * self.ideal

    def step(self) -> Sequence[Change]:
        """Change the graph; returns what was changed, nothing if there is nothing left to do."""
        changes = [] if self.perfect else self._changes()
        self.graph.add(changes)
        return changes

    def state(self) -> dict[str, Any]:
        """All changes so far, the nodes of the frontier, and the order of documents inside them."""
        return {
            "changes": self.graph.written(),
            "n_nodes": self.graph.n_nodes,
            "nodes": self.nodes,
            "order": self.frontier.ranked(),
        }

    def resume(self, state: Mapping[str, Any]) -> list[Change]:
        """Go on from a state; returns the changes."""
        changes = self.graph.read(state["changes"])
        self.graph.n_nodes = int(state["n_nodes"])
        self.nodes = [int(node) for node in state["nodes"]]
        route = Route(self.sample.bins, self.sample.n_bins)
        route.follow(changes)
        self.frontier.restart(len(self.nodes), route.positions(self.nodes), np.asarray(state["order"]))
        return changes

    @abc.abstractmethod
    def _changes(self) -> list[Change]:
        """Change frontier and nodes, and say how."""

    def _split(self, place: int, split: Split) -> Forked:
        """Split a node of the frontier."""
        up, down = self.graph.new_node(), self.graph.new_node()
        change = Forked(self.nodes[place], split, up, down)
        self.nodes[place : place + 1] = [up, down]
        return change

    def _reorder(self) -> None:
        for place, to in self.frontier.reorder():
            self.nodes.insert(to, self.nodes.pop(place))


class Simple(Growth):
    """Split, then swap.

    Take the split with the largest gain by forces, and if all gains are 0 the most even split of the largest node
    that can be split; then reorder the frontier by the best move of one node until none improves it.

    Training cannot oscillate: every step adds a node, and every move raises the value.
    """

    def __init__(self, sample: Sample, min_documents: int) -> None:
        super().__init__(sample, min_documents)
        self._forces = np.zeros(sample.n_documents, dtype=np.int64)
        self._known: dict[int, Split | None] = {}  # best split by node, for the forces above

    def _changes(self) -> list[Change]:
        best = self._best_split()
        if best is None:
            return []
        place, split = best
        self.frontier.split(place, split)
        changes: list[Change] = [self._split(place, split)]
        self._reorder()
        return changes

    def _best_split(self) -> tuple[int, Split] | None:
        """(place, split) of the largest gain, or the fallback where all gains are 0."""
        forces = self.frontier.forces()
        wanted = np.array([node not in self._known for node in self.nodes])
        wanted[self.frontier.positions[forces != self._forces]] = True
        found = self.frontier.best_splits(forces, wanted, self.min_documents)
        known = {node: found[place] if wanted[place] else self._known[node] for place, node in enumerate(self.nodes)}
        self._forces, self._known = forces, known
        best: tuple[int, Split] | None = None
        for place, split in enumerate(known.values()):
            if split is not None and split.gain > (best[1].gain if best else 0.0):
                best = (place, split)
        return best or self._even_split(forces)

    def _even_split(self, forces: np.ndarray) -> tuple[int, Split] | None:
        sizes = np.bincount(self.frontier.positions, minlength=self.frontier.size)
        for place in np.argsort(-sizes, kind="stable"):
            wanted = np.arange(self.frontier.size) == place
            split = self.frontier.best_splits(forces, wanted, self.min_documents, even=True)[place]
            if split is not None:
                return int(place), split
        return None


class Full(Simple):
    """Split, merge and swap.

    As the simple form, but the node that is to be split may first be merged with its upper or lower neighbour. Of the
    three the one is taken whose frontier is worth most after reordering. A merge must also be worth more than the
    frontier was before: nodes never become fewer, and while they stay as many the value rises, so that training
    cannot oscillate.
    """

    def _changes(self) -> list[Change]:
        best = self._best_split()
        if best is None:
            return []
        place, split = best
        before = self.frontier.value()
        alone = self.frontier.copy()
        alone.split(place, split)
        chosen, moves, merged_at = alone, alone.reorder(), None
        value = chosen.value()
        for upper in (place - 1, place):
            if not 0 <= upper < self.frontier.size - 1:
                continue
            tried = self.frontier.copy()
            tried.merge(upper)
            here = np.arange(tried.size) == upper
            merged_split = tried.best_splits(tried.forces(), here, self.min_documents)[upper]
            if merged_split is None or merged_split.gain == 0.0:
                continue
            tried.split(upper, merged_split)
            tried_moves = tried.reorder()
            worth = tried.value()
            if worth > max(value, before) + NEARLY * self.ideal:
                chosen, moves, merged_at, value = tried, tried_moves, upper, worth
                split = merged_split
        changes: list[Change] = []
        if merged_at is not None:
            place = merged_at
            whole = self.graph.new_node()
            changes = [Joined(self.nodes[place], whole), Joined(self.nodes[place + 1], whole)]
            self.nodes[place : place + 2] = [whole]
        changes.append(self._split(place, split))
        for start, to in moves:
            self.nodes.insert(to, self.nodes.pop(start))
        self.frontier = chosen
        return changes


class Rebalancing(Full):
    """Split, merge, swap, and merge without splitting.

    As the full form; and whenever a step has made the frontier worth more than it ever was, neighbours are merged as
    long as that costs nothing, the merge that is worth most first: mostly nodes that no query has documents in both of,
    whose documents can then be told apart by one split. Nodes become fewer only after a value that was never reached
    before, so that training cannot oscillate.
    """

    def __init__(self, sample: Sample, min_documents: int) -> None:
        super().__init__(sample, min_documents)
        self._highest = self.frontier.value()

    def state(self) -> dict[str, Any]:
        return super().state() | {"highest": self._highest}

    def resume(self, state: Mapping[str, Any]) -> list[Change]:
        self._highest = float(state["highest"])
        return super().resume(state)

    def _changes(self) -> list[Change]:
        changes = super()._changes()
        value = self.frontier.value()
        if value <= self._highest + NEARLY * self.ideal:
            return changes
        self._highest = value
        while (place := self._free_merge()) is not None:
            whole = self.graph.new_node()
            changes += [Joined(self.nodes[place], whole), Joined(self.nodes[place + 1], whole)]
            self.nodes[place : place + 2] = [whole]
            self.frontier.merge(place)
        return changes

    def _free_merge(self) -> int | None:
        """The upper of the neighbours whose merge is worth most, if it leaves the value where it is, or raises it."""
        best, least = None, self._highest - NEARLY * self.ideal
        for place in range(self.frontier.size - 1):
            tried = self.frontier.copy()
            tried.merge(place)
            worth = tried.value()
            if worth >= least and (best is None or worth > least):
                best, least = place, worth
        return best


class Martingale(Growth):
    """Level t has t + 1 nodes; each sends a document to the same place or the next lower one (Long and Servedio, 2005).

    A node is split by the largest gain of forces; one that cannot gain sends everything up if it is in the upper half,
    else down. ``edges`` holds what each level achieved.
    """

    def __init__(self, sample: Sample, min_documents: int) -> None:
        super().__init__(sample, min_documents)
        self.edges: list[LevelEdges] = []

    def state(self) -> dict[str, Any]:
        return super().state() | {"edges": [[level.minimum, level.mean] for level in self.edges]}

    def resume(self, state: Mapping[str, Any]) -> list[Change]:
        self.edges = [LevelEdges(float(minimum), float(mean)) for minimum, mean in state["edges"]]
        return super().resume(state)

    def _changes(self) -> list[Change]:
        frontier, sample = self.frontier, self.sample
        splits = frontier.best_splits(frontier.forces(), np.ones(frontier.size, dtype=bool), self.min_documents)
        children = [self.graph.new_node() for _ in range(frontier.size + 1)]
        members, starts = frontier.members()
        up = np.zeros(sample.n_documents, dtype=bool)
        changes: list[Change] = []
        for place, split in enumerate(splits):
            here = members[starts[place] : starts[place + 1]]
            if split is None or split.gain == 0.0:
                rises = 2 * place < frontier.size
                up[here] = rises
                changes.append(Joined(self.nodes[place], children[place if rises else place + 1]))
            else:
                up[here] = split.goes_up(sample.bins[split.column, here], int(sample.n_bins[split.column]))
                changes.append(Forked(self.nodes[place], split, children[place], children[place + 1]))
        self.edges.append(LevelEdges.of(sample, frontier.positions, up))
        frontier.next_level(up)
        self.nodes = children
        return changes


class MaxNDCG(Growth):
    """The slides' earlier way: the split that most raises the measure, the order inside both sides unchanged.

    The measure never falls, and training ends when no split of any node raises it. The frontier is not reordered, and
    ties stand in the order of a hash.
    """

    def __init__(self, sample: Sample, min_documents: int) -> None:
        super().__init__(sample, min_documents)
        self._known: dict[int, Split | None] = {}  # a node's best split does not depend on the other nodes

    def _changes(self) -> list[Change]:
        ranked = self.frontier.ranked()
        for place, node in enumerate(self.nodes):
            if node not in self._known:
                mine = ranked[self.frontier.positions[ranked] == place]
                self._known[node] = best_ordered_split(self.sample, ranked, mine, self.min_documents)
        splits = [self._known[node] for node in self.nodes]
        gains = [0.0 if split is None else split.gain for split in splits]
        place = int(np.argmax(gains))
        split = splits[place]
        if split is None:
            return []
        self.frontier.split(place, split)
        return [self._split(place, split)]


def _ideal_value(sample: Sample) -> float:
    """The value of the best order: every worth a node of its own."""
    different, grades = np.unique(-sample.worth, return_inverse=True)
    ideal = Frontier(sample)
    ideal.size = len(different)
    ideal.positions[:] = grades
    return ideal.value()
