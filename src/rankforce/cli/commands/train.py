"""``rankforce train``: a ranker from a file, into a file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankforce import text_values
from rankforce.cli import options, output
from rankforce.cli.failures import INTERRUPTED
from rankforce.displayed_text import displayed_path
from rankforce.errors import SettingsError

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def train(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="TRAIN",
            help="Training data: LETOR text, Parquet or CSV; a file, several, a folder of them, or a quoted pattern.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL.json", help="Where to write the model.")],
    validation: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Validation data: to stop early, and to choose epochs.",
            show_default=False,
        ),
    ] = None,
    validation_share: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Hold this share of the training queries out as validation data.",
            show_default=False,
        ),
    ] = None,
    ranker: Annotated[str, typer.Option(metavar="NAME", help="For example lambdamart, lambdarank.")] = "lambdamart",
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="What to maximise; mart, ranknet: to watch.",
            show_default="NDCG",
        ),
    ] = None,
    lambda_function: Annotated[
        str | None,
        typer.Option(
            metavar="NAME(PARAMETER=VALUE)",
            help="λ-function: what pulls, for example LocalCost(k=3).",
            show_default=False,
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="mart: what is minimised, for example ordinal.", show_default=False),
    ] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=WEIGHT",
            help="A further measure, which decides between documents that are tied in those before, and its share: "
            "CNDCG:clicks=0.2, or CNDCG:clicks=search to choose it on --validation; repeatable.",
            show_default=False,
        ),
    ] = None,
    objective: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="What to maximise, in full: tiers, λ-functions, schedules.", show_default=False
        ),
    ] = None,
    trees: Annotated[int | None, typer.Option(metavar="N", help="Number of trees.", show_default=False)] = None,
    leaves: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Leaves of a tree; several with commas: of the first, the second ..., the last number of all others.",
            show_default=False,
        ),
    ] = None,
    hidden: Annotated[
        int | None, typer.Option(metavar="N", help="Hidden units of a net; 0: a linear score.", show_default=False)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", help="Passes over the data (nets, prank).", show_default=False)
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Of a net's inputs: auto, standard, log1p, query, none.", show_default=False),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="YEAR",
            help="Train as in a paper: nets 2006, 2009; trees (lambdamart) 2010, 2011.",
            show_default=False,
        ),
    ] = None,
    learning_rate: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="Learning rate; for nets also auto, or several with commas: the best on --validation is kept.",
            show_default=False,
        ),
    ] = None,
    early_stopping: Annotated[
        int | None,
        typer.Option(metavar="N", help="Stop after N steps without improvement, keep the best.", show_default=False),
    ] = None,
    base_model: Annotated[
        str | None,
        typer.Option(metavar="MODEL|FEATURE", help="Start from a model file, or from a feature.", show_default=False),
    ] = None,
    from_lightgbm: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Begin with LightGBM's parameters: JSON or name = value lines.", show_default=False
        ),
    ] = None,
    from_xgboost: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Begin with XGBoost's parameters, likewise.", show_default=False),
    ] = None,
    bag: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Average N rankers, each on 4/5 of the queries and with its own seed.", show_default=False
        ),
    ] = None,
    preferences: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Learn from preferences: CSV or TSV with qid, better, worse and perhaps probability, weight.",
            show_default=False,
        ),
    ] = None,
    preference_share: Annotated[
        float, typer.Option(metavar="P", help="Share of preferences; the rest is the measure's.")
    ] = 1.0,
    refit: options.Refit = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what was learned here now and then, and go on from it after a crash.",
            show_default=False,
        ),
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(metavar="N", help="Trees or epochs between two checkpoints.")] = 50,
    resume: Annotated[
        Literal["auto", "never", "always"],
        typer.Option(
            metavar="auto|never|always",
            help="Go on from the checkpoint if there is one, begin anew, or insist on one.",
        ),
    ] = "auto",
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting of the ranker; repeatable.", show_default=False),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    imports: options.Imports = None,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    json: options.Json = False,
) -> None:
    """Train a ranker and save its model.

    Ctrl-C stops after the current tree or epoch, keeps what was learned, says how far it came, and leaves with 130.
    """
    import rankforce as rf
    from rankforce.cli.clusters import cluster_client, learning_data, refuse_on_cluster
    from rankforce.cli.held_out import check_held_out, held_out
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.settings import read_option, read_settings, said_by_options
    from rankforce.cli.writing import check_output
    from rankforce.rankers.catalogue import ranker_class

    read_here = (*data, validation, objective, base_model, from_lightgbm, from_xgboost, preferences)
    check_output(out, *read_here, checkpoint)
    check_output(checkpoint, *read_here)
    check_held_out(validation, validation_share, preferences, early_stopping=early_stopping is not None, refit=refit)
    import_measures(imports or ())
    kind: Any = ranker_class(ranker)
    aimed = "measure" if "measure" in kind._get_param_names() else "validation_measure"  # MART only watches one
    aim = _objective(measure, tier or (), objective)
    if aim is not None:
        measure = None
    by_option: dict[str, Any] = {
        "objective": aim,
        aimed: read_option(measure, "--measure", aimed, kind),
        "lambda_function": read_option(lambda_function, "--lambda-function", "lambda_function", kind),
        "cost": read_option(cost, "--cost", "cost", kind),
        "n_trees": trees,
        "n_leaves": read_option(leaves, "--leaves", "n_leaves", kind),
        "hidden": hidden,
        "epochs": epochs,
        "scaling": read_option(scaling, "--scaling", "scaling", kind),
        "preset": read_option(preset, "--preset", "preset", kind),
        "learning_rate": read_option(learning_rate, "--learning-rate", "learning_rate", kind),
        "early_stopping": early_stopping,
        "base_model": _base(base_model),
        "threads": threads,
    }
    ranker_settings = {name: value for name, value in by_option.items() if value is not None}
    given = {*ranker_settings, *said_by_options(seed=seed, quiet=quiet, threads=threads)}
    ranker_settings |= {"seed": seed, "progress": not quiet} | read_settings(settings or (), kind, given)
    construct = kind
    if from_lightgbm is not None or from_xgboost is not None:
        construct = _from_parameters(kind, from_lightgbm, from_xgboost)
    _check_settings(kind, ranker_settings)
    model = construct(**ranker_settings)
    if bag is not None:
        model = rf.Bagging(model, n_models=bag, seed=seed, progress=not quiet)
    checkpoints = _checkpoints(model, checkpoint, checkpoint_every, resume)
    with cluster_client(cluster, workers, threads) as client:
        refuse_on_cluster(client, refit=refit, preferences=preferences, bag=bag)
        documents, watched = learning_data(client, model, data, validation, read, categorical)
        if validation_share is not None:
            documents, watched = held_out(documents, validation_share, seed)
        learned_from = _preferences(model, documents, preferences, preference_share, refit)
        model.fit(documents, validation=watched, **checkpoints, **learned_from)
        if refit and not model.interrupted_:
            model = model.refit(documents, watched)
        model.save(out)
        _show_outcome(model, out, documents, json)
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def _check_settings(kind: Any, given: Iterable[str]) -> None:
    """Raise for an option that is none of the ranker's settings."""
    known = kind._get_param_names()
    foreign = [name for name in given if name not in known]
    if foreign:
        other_setting = {"cost": "lambda_function", "lambda_function": "cost"}.get(foreign[0], "")
        remedy = f"use --{other_setting.replace('_', '-')}" if other_setting in known else "leave the option out"
        raise SettingsError(f"{kind.__name__} has no setting {foreign[0]!r}: {remedy}")


def _checkpoints(model: Any, path: Path | None, every: int, resume: str) -> dict[str, Any]:
    """What ``fit`` is told of checkpoints."""
    if path is None:
        if resume == "always":
            raise SettingsError("--resume always needs --checkpoint FILE")
        return {}
    if "checkpoint" not in inspect.signature(model.fit).parameters:
        raise SettingsError(f"{type(model).__name__} writes no checkpoints: leave --checkpoint out")
    return {"checkpoint": path, "checkpoint_every": every, "resume": resume}


def _preferences(model: Any, documents: Dataset, path: str | None, share: float, refit: bool) -> dict[str, Any]:
    """What ``fit`` is told of preferences."""
    import rankforce as rf

    if path is None:
        if share != 1.0:
            raise SettingsError("--preference-share goes with --preferences FILE")
        return {}
    if refit:
        raise SettingsError("--refit learns from labels: leave --preferences or --refit out")
    if "preferences" not in inspect.signature(model.fit).parameters:
        raise SettingsError(f"{type(model).__name__} cannot learn from preferences: leave --preferences out")
    pairs = rf.read_preferences(path, documents)
    output.note(f"{displayed_path(path)}: {', '.join(pairs.columns)} from the columns of these names")
    return {"preferences": pairs, "preference_share": share}


def _show_outcome(model: Any, out: Path, data: Dataset, json: bool) -> None:
    from rankforce.training.monitoring import in_words

    history, provenance = model.history_, model.model_.provenance
    iterations = model.best_iteration_
    last = {name: values[iterations - 1] for name, values in history.items() if 0 < iterations <= len(values)}
    if json:
        output.show_json(
            {"model": str(out), "ranker": type(model).__name__, "iterations": iterations}
            | {"values": last, "history": history}
            | {"watched": provenance.watched, "ties": provenance.ties, "refit": provenance.settings.get("refit")}
            | {"interrupted": model.interrupted_}
            | {"roles": dict(data.roles), "categories": {name: len(one) for name, one in data.categories.items()}}
        )
        return
    summary = in_words(last, provenance.watched, provenance.ties) if last else "nothing was learned"
    if "refit" in provenance.settings:
        summary += "; fitted again on training and validation data"
    if model.interrupted_:
        summary += f"; interrupted {provenance.interrupted}"
    output.show(f"{out}: {type(model).__name__}, {model.model_!r}; {summary}")


def _from_parameters(kind: Any, lightgbm: Path | None, xgboost: Path | None) -> Any:
    """The constructor that begins with another library's parameters."""
    import warnings

    from rankforce.cli.foreign_parameters import read_parameters

    if lightgbm is not None and xgboost is not None:
        raise SettingsError("--from-lightgbm and --from-xgboost exclude each other")
    name, path = ("from_lightgbm", lightgbm) if lightgbm is not None else ("from_xgboost", xgboost)
    if not hasattr(kind, name):
        raise SettingsError(f"{kind.__name__} takes no parameters of another library: use --ranker lambdamart or mart")
    assert path is not None
    parameters = read_parameters(path)

    def construct(**settings: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = getattr(kind, name)(parameters, **settings)
        for warning in caught:
            output.note(str(warning.message))
        return model

    return construct


def _objective(measure: str | None, tiers: Sequence[str], path: Path | None) -> Any:
    """The objective of a file, or of ``--measure`` and ``--tier``; None where the measure says it all."""
    import rankforce as rf

    if path is not None:
        if measure is not None or tiers:
            raise SettingsError("--objective says what is maximised: leave --measure and --tier out")
        return rf.read_objective(path)
    if not tiers:
        return None
    measures, weights = [measure or "NDCG"], []
    if all(entry.endswith("=search") for entry in tiers):
        return rf.Graded([*measures, *(entry.removesuffix("=search") for entry in tiers)], "search")
    searched = [entry for entry in tiers if entry.endswith("=search")]
    if searched:
        raise SettingsError(f"--tier {searched[0]}: search for the shares of all tiers or of none")
    for entry in tiers:
        name, _, text = entry.rpartition("=")
        try:
            weights.append(float(text_values.number(text)))
        except ValueError:
            name = ""
        if not name:
            raise SettingsError(f"--tier {entry}: write MEASURE=WEIGHT, for example CNDCG:clicks=0.2")
        measures.append(name)
    first_share = 1.0 - sum(weights)
    if not first_share > 0:
        raise SettingsError(f"the tiers' shares must add up to less than 1: {measures[0]} has the rest")
    return rf.Graded(measures, [first_share, *weights])


def _base(given: str | None) -> Any:
    """A model file if there is one of that name, else the name of a feature."""
    if given is None:
        return None
    if Path(given).exists():
        return Path(given)
    if Path(given).suffix in (".json", ".gz") or os.sep in given:
        raise SettingsError(f"--base-model {given}: there is no such file")
    return given
