"""What a command does when it cannot go on: one message on standard error, an exit code, no traceback.

Warnings of rankforce are lines on standard error, too. Both say what to type, not what to write in Python.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import typer

from rankforce.cli import output
from rankforce.console.interruption import holds_interrupt
from rankforce.displayed_text import displayed_lines
from rankforce.errors import RankforceError, RankforceWarning, Worded

# Exit codes. 0: done.
NEGATIVE_VERDICT = 1  # the command ran and its answer is no (a warning under --strict, a comparison that was lost)
BAD_INPUT = 2  # usage or data: the user can put it right
INTERNAL = 70  # a defect of rankforce
INTERRUPTED = 130  # Ctrl-C


def reporting_failures(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: its exceptions become messages and exit codes. With RANKFORCE_DEBUG set they are raised."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        def worded(message: Worded) -> str:
            from rankforce.cli.remedies import in_shell

            return in_shell(message, command)

        try:
            with _warnings_as_remarks(worded):
                return command(*arguments, **options)
        except BrokenPipeError:
            # The reader (head, less) has seen enough. What is still buffered must not fail at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (typer.Exit, typer.Abort):
            raise
        except BaseException as error:
            if holds_interrupt(error):
                _stop("interrupted", INTERRUPTED)
            if not isinstance(error, Exception) or type(error).__module__.startswith(("click", "typer")):
                raise  # a usage error: the library prints it with the usage line and leaves with 2
            _stop(*_told(error, worded))

    return wrapped


def _told(error: Exception, worded: Callable[[Worded], str]) -> tuple[str, int]:
    """The message and the exit code of an exception."""
    if isinstance(error, RankforceError):
        return worded(error), BAD_INPUT
    if isinstance(error, OSError):
        return str(error) if error.filename is None else f"{error.filename}: {error.strerror}", BAD_INPUT
    return (
        f"unexpected {type(error).__name__}: {error}\n"
        "  this is a defect of rankforce: set RANKFORCE_DEBUG=1 to see where, and please report it",
        INTERNAL,
    )


@contextlib.contextmanager
def _warnings_as_remarks(worded: Callable[[Worded], str]) -> Iterator[None]:
    """Show each warning of rankforce once, as a remark. All others go their way."""
    told = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def remark(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, RankforceWarning):
                show(message, category, *place, **more)
            elif str(message) not in told:
                told.add(str(message))
                output.note(worded(message))

        warnings.showwarning = remark
        warnings.simplefilter("always", RankforceWarning)
        yield


def _stop(message: str, code: int) -> None:
    if os.environ.get("RANKFORCE_DEBUG") and sys.exc_info()[0] is not None:
        raise  # the exception that is being handled, with its traceback
    typer.echo(displayed_lines(f"rankforce: {message}"), err=True)
    raise typer.Exit(code) from None
