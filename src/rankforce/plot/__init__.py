"""Pictures of results, drawn by matplotlib: each function returns the axes, and writes a file if it is given a path."""

from __future__ import annotations

from rankforce.public_names import loaded_on_first_use

_HOME = {
    "calibration": "rankforce.plot.score_spread",
    "comparison": "rankforce.plot.compared_rankings",
    "curves": "rankforce.plot.training_curves",
    "dependence": "rankforce.plot.feature_effects",
    "forces": "rankforce.plot.force_arrows",
    "frontier": "rankforce.plot.trade_offs",
    "history": "rankforce.plot.training_curves",
    "importance": "rankforce.plot.feature_effects",
    "instrument": "rankforce.plot.training_curves",
    "per_query": "rankforce.plot.compared_rankings",
    "score_distribution": "rankforce.plot.score_spread",
    "smoothness": "rankforce.plot.swept_curves",
    "sweep": "rankforce.plot.swept_curves",
    "tuning": "rankforce.plot.trade_offs",
}

__all__ = [*_HOME]
__getattr__, __dir__ = loaded_on_first_use(__name__, _HOME)
