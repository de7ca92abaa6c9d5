"""Load a model in a process of its own.

Reading a large file holds Python's lock for seconds, and every request would wait for it. What comes back are arrays,
which are copied in a moment.

    python -m rankforce.serving.loading NAME FILE
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Final

from rankforce.displayed_text import displayed_path
from rankforce.errors import ModelFileError, RankforceError
from rankforce.serving.served_models import ServedModel, load_served

_REFUSED: Final = 2
_LONGEST: Final = 600.0  # seconds


def load_apart(name: str, path: Path) -> ServedModel:
    """As ``load_served``, while this process goes on."""
    command = [sys.executable, "-m", "rankforce.serving.loading", name, str(path)]
    try:
        # a session of its own: Ctrl-C is for the service, which says what becomes of its work
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LONGEST, start_new_session=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelFileError(f"{displayed_path(path)}: the process that loads it failed: {error}") from None
    told = done.stderr.decode(errors="replace").strip()
    if done.returncode == _REFUSED:
        raise ModelFileError(told)
    if done.returncode != 0:
        last = told.splitlines()[-1] if told else "without a word"
        raise ModelFileError(f"{displayed_path(path)}: the process that loads it left with {done.returncode}: {last}")
    found = pickle.loads(done.stdout)  # what our own process wrote
    assert isinstance(found, ServedModel)
    return found


def main() -> None:
    """Write the model to standard output, or why it cannot be loaded to standard error."""
    name, path = sys.argv[1:]
    try:
        data = pickle.dumps(load_served(name, Path(path)), protocol=5)
    except (RankforceError, MemoryError) as error:
        print(str(error) or "the model does not fit into the memory", file=sys.stderr)
        sys.exit(_REFUSED)
    sys.stdout.buffer.write(data)


if __name__ == "__main__":
    main()
