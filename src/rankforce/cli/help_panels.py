"""The help of long commands in groups: which panel an option stands in, by its name, for all commands at once.

Panels are drawn on terminals. What is not named here stands under "Options"; commands with few options have no panels.
"""

from __future__ import annotations

FEWEST = 10  # options of a command that is given panels

DATA = "Data"
AIM = "What to maximise"
RANKER = "The ranker"
RUN = "The run"
MEASURING = "Measuring"
RESULT = "Output"

PANELS: dict[str, tuple[str, ...]] = {
    DATA: (
        "data", "validation", "validation_share", "folds", "read", "preferences", "preference_share", "segments",
        "missing_queries", "column", "query_key", "sorted_by_session", "judgments", "feature_set", "query", "document",
        "entry", "unjudged", "absent", "repeated", "background", "unretrieved", "check", "baseline",
        "queries", "query_texts", "document_texts", "shares",
    ),
    AIM: ("measure", "lambda_function", "cost", "tier", "objective", "imports"),
    RANKER: (
        "ranker", "trees", "leaves", "hidden", "epochs", "scaling", "preset", "learning_rate", "early_stopping",
        "base_model", "from_lightgbm", "from_xgboost", "bag", "settings", "tried", "space", "method", "search",
    ),
    MEASURING: ("ties", "blank", "convention", "graded", "require", "level", "permutations", "feature", "sample"),
    RUN: (
        "checkpoint", "checkpoint_every", "resume", "cluster", "workers", "trials", "journal", "seed", "threads",
        "quiet",
    ),
    RESULT: (
        "out", "table", "per_query", "plot", "run", "tag", "write", "force", "form", "json", "name", "bundle", "title",
    ),
}  # fmt: skip

_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_MEASURES_ONLY = ("measure", "imports")


def panel(parameter: str, parameters: list[str]) -> str | None:
    """The panel of one of the options of a command; None for the first one, without a name of its own."""
    if len(parameters) < FEWEST:
        return None
    found = _PANEL_OF.get(parameter)
    if found == AIM and parameter in _MEASURES_ONLY and "ranker" not in parameters:
        return MEASURING  # the command trains nothing
    return found
