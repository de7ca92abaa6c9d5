"""Public names of rankforce.plot; written by tools/write_stub.py."""

from rankforce.plot.compared_rankings import comparison as comparison
from rankforce.plot.compared_rankings import per_query as per_query
from rankforce.plot.feature_effects import dependence as dependence
from rankforce.plot.feature_effects import importance as importance
from rankforce.plot.force_arrows import forces as forces
from rankforce.plot.score_spread import calibration as calibration
from rankforce.plot.score_spread import score_distribution as score_distribution
from rankforce.plot.swept_curves import smoothness as smoothness
from rankforce.plot.swept_curves import sweep as sweep
from rankforce.plot.trade_offs import frontier as frontier
from rankforce.plot.trade_offs import tuning as tuning
from rankforce.plot.training_curves import curves as curves
from rankforce.plot.training_curves import history as history
from rankforce.plot.training_curves import instrument as instrument

__all__ = [
    "calibration",
    "comparison",
    "curves",
    "dependence",
    "forces",
    "frontier",
    "history",
    "importance",
    "instrument",
    "per_query",
    "score_distribution",
    "smoothness",
    "sweep",
    "tuning",
]
