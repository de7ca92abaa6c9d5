"""``python -m rankforce`` is the command ``rankforce``."""

from rankforce.cli.main import main

if __name__ == "__main__":
    main()
