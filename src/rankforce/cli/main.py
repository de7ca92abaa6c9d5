"""What the console script runs: the application, and an end without a traceback when it is interrupted at its start."""

from __future__ import annotations

import sys

from rankforce.console.interruption import holds_interrupt

INTERRUPTED = 130


def main() -> None:
    """Run ``rankforce``. What takes time to import is imported here, where Ctrl-C is awaited."""
    try:
        from rankforce.cli.application import build

        build()(prog_name="rankforce")
    except BaseException as error:
        told = isinstance(error, SystemExit) and error.code == INTERRUPTED  # by the command itself
        if told or not holds_interrupt(error):
            raise
        print("rankforce: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
