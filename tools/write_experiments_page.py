"""Write docs/experiments.md and its figures from runs that ``rankforce reproduce`` left in a folder.

    python -m tools.write_experiments_page reproduced
    python -m tools.write_experiments_page              # the page alone, from the records in experiments/results

With a folder, every finished run, quick or full, becomes a record, and the page is written from the records: a test
holds that it is what they give, and that the code that made their rows is today's. Nothing is run here, and nothing is
written by hand but the sentences on why results differ: a part that is missing, or that other code made, is an error.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from PIL import Image
from tools.experiments_page import RESULTS, page_of, picture_path, recorded

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.drawing import figure_of, save_figure
from rankforce.reproducing.records import record_of
from rankforce.reproducing.running import ReproducedRun, earlier_verdict, run_experiment

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "images" / "experiments"
LARGEST = 60_000  # bytes of a picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the --out of rankforce reproduce")
    given = parser.parse_args()
    if given.folder is not None:
        gather(given.folder)
    (DOCS / "experiments.md").write_text(page_of(recorded("quick"), recorded("full")), encoding="utf-8")
    verdicts = Counter(str(run.verdict) for run in recorded("quick").values())
    print(f"{verdicts.total()} experiments: {dict(verdicts)}")


def gather(folder: Path) -> None:
    """Records and pictures of all finished runs, in place of those of the same experiments; the others stay."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in all_experiments():
        for size in ("quick", "full"):
            run = kept(name, size, folder)
            if run is not None:
                (RESULTS / f"{name}-{size}.json.gz").write_bytes(record_of(run))
                if size == "quick":
                    for old in PICTURES.glob(f"{name}.*"):
                        old.unlink()
                    draw(run)


def kept(name: str, size: str, folder: Path) -> ReproducedRun | None:
    """A finished run; None if there is none. One that other code made is an error."""
    place = folder / name / size
    earlier = earlier_verdict(place)
    if earlier is None:
        return None
    seeds = int(earlier["seeds"])
    return run_experiment(all_experiments()[name], size, place, seeds=seeds, progress=False, kept_only=True)


def draw(run: ReproducedRun) -> None:
    """The figure as SVG if that is small, else as PNG, small enough."""
    figure = figure_of(run.experiment, run.rows)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "figure.svg"
        save_figure(figure, drawn)
        if drawn.stat().st_size <= LARGEST:
            (PICTURES / f"{run.experiment.name}.svg").write_bytes(drawn.read_bytes())
            return
    path = PICTURES / f"{run.experiment.name}.png"
    for dots in range(110, 40, -10):
        figure.savefig(path, dpi=dots)
        with Image.open(path) as drawn_picture:
            few = drawn_picture.convert("RGB").quantize(64)
        few.save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    assert picture_path(run.experiment.name)


if __name__ == "__main__":
    main()
