"""The command ``rankforce``: one verb per job, each in a file of its own in ``commands``.

Nothing heavy is imported until a command runs: ``rankforce --help`` needs neither NumPy nor Numba.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Annotated, Any

import typer

from rankforce.cli import commands, output
from rankforce.cli.failures import reporting_failures


def command_names() -> list[str]:
    """Every command, found by its file."""
    return sorted(found.name for found in pkgutil.iter_modules(commands.__path__))


def build() -> typer.Typer:
    """The application with all its commands: ``commands/x.py`` gives the command ``x`` by its function ``x``."""
    app = typer.Typer(
        help="Learning to rank for the measure you report.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if output.on_terminal() else None,  # help without boxes in files and pipes
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_without_a_command)
    for name in command_names():
        module: Any = importlib.import_module(f"rankforce.cli.commands.{name}")
        app.command(name=name.replace("_", "-"))(reporting_failures(getattr(module, name)))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        import rankforce

        typer.echo(f"rankforce {rankforce.__version__}")
        raise typer.Exit


def _without_a_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
