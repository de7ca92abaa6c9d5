"""Take the pictures of docs/report.md: run its code, open the page in Chromium, and keep three windows of it.

    python docs/images/take_report_pictures.py

It needs playwright, Chromium and Pillow.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent
ROOT = IMAGES.parents[1]
WINDOWS: dict[str, tuple[dict[str, Any], str | None]] = {  # name: the window, and what is scrolled to
    "light": ({"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"}, None),
    "dark": ({"viewport": {"width": 1280, "height": 1290}, "color_scheme": "dark"}, "#queries"),
    "phone": (
        {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "color_scheme": "light"},
        "#queries-picked .card:nth-child(2)",
    ),
}


def make_report(folder: Path) -> Path:
    """The page that the guide makes."""
    sys.path.insert(0, str(ROOT))
    os.chdir(folder)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "report.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(blocks[0], "report.md", "exec"), {})
    return folder / "report.html"


def main() -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        page_file = make_report(Path(folder))
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        for name, (window, place) in WINDOWS.items():
            page = browser.new_context(**window, reduced_motion="reduce").new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready=true]", state="attached")
            if place is not None:
                above = 64 if name == "phone" else 20  # what the list of parts covers
                top = page.evaluate("place => document.querySelector(place).getBoundingClientRect().top", place)
                page.evaluate("top => scrollTo(0, top)", top - above)
                page.wait_for_timeout(300)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture = picture.quantize(128, dither=Image.Dither.NONE)  # flat colours: a third of the bytes
            path = IMAGES / f"report-{name}.png"
            picture.save(path, optimize=True)
            print(f"{path.name}: {path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
