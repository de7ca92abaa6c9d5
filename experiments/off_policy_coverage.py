"""Off-policy estimates against the truth of simulated logs: bias, spread, and how often 95 % intervals contain it.

    python experiments/off_policy_coverage.py [--logs 1000] [--sessions 300]

Twenty queries of eight documents, each with a probability γ of a click at position 1 (Beta(1, 3)); users look at
position k with probability 1/k. Production ranks by γ with much noise, half of its sessions with two places exchanged;
the new ranking ranks by γ with little. Sessions ask a random query. The truth is the mean over queries of the clicks
that the new ranking would have under the click model. Printed for each setting: bias and root mean square error in
per cent of the truth, and the share of logs whose interval (bootstrap over sessions, and normal) contains the truth.

Settings: the right propensities; too flat and too steep ones (1/√k, 1/k²); lists of five places, so that part of the
new ranking was never shown; users who stop after a click (cascade) and who trust the first places, for both of which
position-based estimates are wrong.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import rankforce as rf
from rankforce.click_models import Cascade, ClickModel, PositionBased, TrustBias
from rankforce.console.tables import text_table

QUERIES, DOCUMENTS = 20, 8
ESTIMATORS = ("ips", "snips", "clipped", "dr", "model")


@dataclass(frozen=True)
class Setting:
    name: str
    model: ClickModel
    strength: float = 1.0  # that the estimates believe in
    positions: int = DOCUMENTS


SETTINGS = (
    Setting("right propensities", PositionBased()),
    Setting("too flat", PositionBased(), 0.5),
    Setting("too steep", PositionBased(), 2.0),
    Setting("five places shown", PositionBased(), positions=5),
    Setting("cascade", Cascade(stop=0.5, persistence=0.8)),
    Setting("trust", TrustBias(trust=0.3)),
)


@dataclass(frozen=True)
class Market:
    """Documents of all queries, what attracts, and two rankings."""

    data: rf.Dataset
    attractive: np.ndarray
    old: np.ndarray
    new: np.ndarray

    @classmethod
    def draw(cls, seed: int) -> Market:
        rng = np.random.default_rng(seed)
        n = QUERIES * DOCUMENTS
        attractive = rng.beta(1.0, 3.0, size=n)
        queries = np.repeat(np.arange(QUERIES), DOCUMENTS)
        data = rf.Dataset(np.zeros((n, 1)), np.zeros(n), qid=queries, document_ids=np.arange(n))
        old, new = (attractive + rng.normal(scale=scale, size=n) for scale in (0.4, 0.1))
        return cls(data, attractive, old, new)

    def truth(self, setting: Setting) -> float:
        """Clicks per view of the new ranking, from very many simulated sessions where there is no formula."""
        if type(setting.model) is PositionBased:
            ranked = np.argsort(-self.new.reshape(QUERIES, DOCUMENTS), axis=1)[:, : setting.positions]
            shown = np.take_along_axis(self.attractive.reshape(QUERIES, DOCUMENTS), ranked, axis=1)
            return float((shown * setting.model.at_positions(setting.positions)).sum(axis=1).mean())
        log = rf.simulate_clicks(
            self.data, self.new, 20_000, setting.model, positions=setting.positions, attractiveness=self.attractive
        )
        return float(log.clicked.sum()) / log.n_sessions


def evaluations(market: Market, setting: Setting, logs: int, sessions: int) -> Iterator[rf.OffPolicyEvaluation]:
    rng = np.random.default_rng(0)
    believed = np.arange(1.0, setting.positions + 1.0) ** -setting.strength
    for seed in range(logs):
        asked = rng.multinomial(sessions, np.full(QUERIES, 1 / QUERIES))
        log = rf.simulate_clicks(
            market.data, market.old, asked, setting.model, positions=setting.positions, exchange="swap", exchanged=0.5,
            attractiveness=market.attractive, seed=seed,
        )  # fmt: skip
        yield rf.off_policy(log, market.new, market.data, believed, resamples=400, max_unsupported=1.0, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--market", type=int, default=5, help="seed of the documents")
    options = parser.parse_args()
    market = Market.draw(options.market)
    for setting in SETTINGS:
        truth = market.truth(setting)
        errors: dict[str, list[float]] = defaultdict(list)
        covered: dict[tuple[str, str], int] = defaultdict(int)
        unsupported = 0.0
        for found in evaluations(market, setting, options.logs, options.sessions):
            unsupported += found.support["ranking"].unsupported / options.logs
            for name in ESTIMATORS:
                estimate = found.estimate(estimator=name)
                errors[name].append(estimate.value / truth - 1.0)
                for kind, (low, high) in (("bootstrap", estimate.interval), ("normal", estimate.normal_interval)):
                    covered[name, kind] += low <= truth <= high
        rows = []
        for name in ESTIMATORS:
            values = 100.0 * np.array(errors[name])
            shares = [f"{100.0 * covered[name, kind] / options.logs:.1f} %" for kind in ("bootstrap", "normal")]
            shares = ["–", "–"] if name == "model" else shares
            rows.append([name, f"{values.mean():+.1f} %", f"{np.sqrt((values**2).mean()):.1f} %", *shares])
        print(f"\n{setting.name}: truth {truth:.4f} clicks per view, {100.0 * unsupported:.1f} % of looks unsupported")
        print(text_table(["estimator", "bias", "RMS error", "bootstrap", "normal"], rows))


if __name__ == "__main__":
    main()
