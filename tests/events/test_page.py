"""The design page lists what the room touches, as it is now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stepscope.events.hub import KINDS
from stepscope.events.points import POINTS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "design" / "023-events.md").read_text()


def test_the_tables_are_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "points", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_event_and_every_reason_is_on_the_page() -> None:
    assert [kind for kind in KINDS if f"`{kind}`" not in PAGE] == []
    assert [point for point in POINTS.values() if point.why not in PAGE] == []


def test_every_point_has_an_address_and_a_reason() -> None:
    assert [point for point in POINTS.values() if point.address.count(":") != 1 or not point.why] == []
