"""docs/reliability.md names a test for each promise: the test is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text()


def test_every_proof_exists() -> None:
    named = re.findall(r"`([\w/.-]+\.(?:py|ts))(?:::(\w+))?`", PAGE)
    assert len(named) > 80
    missing = []
    for file, name in named:
        path = next((base / file for base in (ROOT / "tests", ROOT) if (base / file).is_file()), None)
        if path is None or (name and f"def test_{name}(" not in path.read_text()):
            missing.append(f"{file}::{name}" if name else file)
    assert missing == []


def test_every_fault_has_a_line() -> None:
    lines = {int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert lines >= {*range(1, 64), *range(66, 75)}
    assert {int(number) for number in re.findall(r"^\| G(\d+) \|", PAGE, re.MULTILINE)} == set(range(1, 14))
