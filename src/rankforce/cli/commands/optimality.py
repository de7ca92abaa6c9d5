"""``rankforce optimality``: is a model at a local optimum of a measure?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import failures, options, output


def optimality(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: a net, or a sum of trees.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The data that the model was trained on.")],
    measure: Annotated[str, typer.Option("--measure", "-m", metavar="MEASURE", help="What must not rise.")] = "NDCG",
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="Share of ascending directions that is to be excluded.")
    ] = 0.01,
    delta: Annotated[float, typer.Option(metavar="D", help="Probability of an error: 1 - D is the confidence.")] = 0.01,
    scale: Annotated[
        float, typer.Option(metavar="S", help="Steps are 0.1 to 1 times S times the norm of the weights.")
    ] = 1.0,
    absolute: Annotated[bool, typer.Option("--absolute", help="Steps are 0.1 to 1 times S, without the norm.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="A step without any change counts as ascending, too.")
    ] = False,
    each_weight: Annotated[
        bool, typer.Option("--each-weight", help="Also move one weight at a time, up and down.")
    ] = False,
    require: Annotated[bool, typer.Option("--require", help="Leave with exit code 1 if the test fails.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="OUT.png", help="Draw the measure along all directions.", show_default=False),
    ] = None,
    seed: options.Seed = 0,
    imports: options.Imports = None,
    read: options.Reading = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Test whether a model is at a local optimum of a measure.

    Weights (of trees: the values of the leaves) are moved along random directions, ten steps each. If none raises the
    measure, fewer than E of all directions ascend, with confidence 1 - D: 459 directions for 0.01 and 0.01.
    """
    import rankforce as rf
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output
    from rankforce.console.figures import check_picture

    check_output(plot, model, data)
    if plot is not None:
        check_picture(plot)
    import_measures(imports or ())
    rf.measure(measure)
    loaded = load_model(model)
    result = rf.diagnostics.local_optimality(
        loaded,
        read_data(data, read, like=loaded),
        measure,
        epsilon=epsilon,
        delta=delta,
        scale=scale,
        relative=not absolute,
        strict=strict,
        each_weight=each_weight,
        seed=seed,
        progress=not quiet,
    )
    if plot is not None:
        result.plot(plot)
    if json:
        output.show_json({"model": str(model), "data": str(data)} | result.to_dict())
    else:
        output.show(str(result))
    if require and not result.passed:
        raise typer.Exit(failures.NEGATIVE_VERDICT)
