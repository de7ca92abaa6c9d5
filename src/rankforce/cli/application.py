"""The command ``rankforce``: one verb per job, each in a file of its own in ``commands``.

Nothing heavy is imported until a command runs: ``rankforce --help`` needs neither NumPy nor Numba.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from rankforce.cli import commands, completion, help_panels, output
from rankforce.cli.failures import reporting_failures
from rankforce.console.terminals import styles_are_wanted


def command_names() -> list[str]:
    """Every command, found by its file."""
    return sorted(found.name for found in pkgutil.iter_modules(commands.__path__))


def build() -> typer.Typer:
    """The application with all its commands: ``commands/x.py`` gives the command ``x`` by its function ``x``."""
    app = typer.Typer(
        help="Learning to rank for the measure you report.",
        add_completion=False,  # the options below: typer's own script for bash cuts measures at their @
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if output.on_terminal() else None,  # help without boxes in files and pipes
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    completion.prepare()
    _style_help()
    app.callback(invoke_without_command=True)(_without_a_command)
    for name in command_names():
        module: Any = importlib.import_module(f"rankforce.cli.commands.{name}")
        app.command(name=name.replace("_", "-"))(furnished(reporting_failures(getattr(module, name))))
    return app


def _style_help() -> None:
    """Help without bold and dim, too, where no styles are wanted; typer's own is without colours then."""
    if output.on_terminal() and not styles_are_wanted():
        from typer import rich_utils

        rich_utils.COLOR_SYSTEM = None


def furnished(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters know their panel in the help and what may be typed for them."""
    signature = inspect.signature(command, eval_str=True)
    parameters = signature.parameters.values()
    options = [one.name for one in parameters if any(isinstance(info, OptionInfo) for info in _metadata(one))]
    vars(command)["__signature__"] = signature.replace(parameters=[_furnished(one, options) for one in parameters])
    return command


def _furnished(parameter: inspect.Parameter, options: list[str]) -> inspect.Parameter:
    infos = [copy.copy(info) for info in _metadata(parameter)]  # several commands share a declaration
    for info in infos:
        info.autocompletion = info.autocompletion or completion.completer(parameter.name)
        if isinstance(info, OptionInfo):
            info.rich_help_panel = help_panels.panel(parameter.name, options)
    if not infos:
        return parameter
    return parameter.replace(annotation=Annotated[(parameter.annotation.__origin__, *infos)])


def _metadata(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return getattr(parameter.annotation, "__metadata__", ())


def _print_version(wanted: bool) -> None:
    if wanted:
        import rankforce

        typer.echo(f"rankforce {rankforce.__version__}")
        raise typer.Exit


def _install_completion(wanted: bool) -> None:
    if wanted:
        reporting_failures(_installed)()
        raise typer.Exit


def _show_completion(wanted: bool) -> None:
    if wanted:
        reporting_failures(lambda: output.write_line(completion.script(completion.shell()).rstrip("\n")))()
        raise typer.Exit


def _installed() -> None:
    shell = completion.shell()
    output.show(f"{completion.install(shell)}: completion for {shell}, in terminals that are opened from now on")


def _without_a_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion",
            callback=_install_completion,
            is_eager=True,
            help="Let the shell that this is typed in (bash, zsh or fish) complete commands, options and measures.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion",
            callback=_show_completion,
            is_eager=True,
            help="Print what --install-completion writes, to put it elsewhere.",
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
