"""What the console script runs: the application, and an end without a traceback when it is interrupted at its start."""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``rankforce``. What takes time to import is imported here, where Ctrl-C is awaited."""
    try:
        from rankforce.cli.application import build

        build()(prog_name="rankforce")
    except KeyboardInterrupt:
        print("rankforce: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
