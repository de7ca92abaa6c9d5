"""Lets the tests of this folder import its helper ``papers_boxes``: each test file is imported on its own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
