"""Sizes, times and counts are written and read by one function each."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from stepscope.common.units import bytes_text, duration, parse_bytes, time_text
from stepscope.errors import UsageError

SOURCE = Path(__file__).parents[2] / "src" / "stepscope"
UNIT = re.compile(r"^ ?([kKMGT]i?B|min)\b")
OWN_WAY = {"common/units.py"}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500MB", 500_000_000),
        ("500MiB", 524_288_000),
        ("2g", 2_000_000_000),
        ("2GiB", 2 << 30),
        ("1.5 kB", 1500),
        ("1024", 1024),
        (" 7 B ", 7),
        (12, 12),
    ],
)
def test_a_size_is_read_the_same_everywhere(text: object, size: int) -> None:
    assert parse_bytes(text, "--capsule-size") == size


@pytest.mark.parametrize("text", ["5X", "", "MB", "-3MB", "1e9", True, None])
def test_what_is_no_size_is_refused_by_name(text: object) -> None:
    with pytest.raises(UsageError, match=r"--capsule-size is .*; expected a size, such as '500MB'"):
        parse_bytes(text, "--capsule-size")


def test_rounding_never_shows_a_thousand_of_a_unit() -> None:
    assert [bytes_text(1024**2 - 1), bytes_text(1023), bytes_text(1023 * 1024)] == ["1 MiB", "1023 B", "1023 KiB"]
    assert [time_text(0.99999), time_text(59.96), duration(59.7), duration(3599.8)] == ["1 s", "1m", "1m", "1h"]


def test_nobody_else_writes_units() -> None:
    """An f-string that puts a unit of memory or minutes behind a number belongs in common/units.py."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name not in OWN_WAY:
            found += [f"{name}:{line} {text!r}" for line, text in _units_in(ast.parse(path.read_text()))]
    assert found == []


def _units_in(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for before, after in zip(node.values, node.values[1:], strict=False):
                text = after.value if isinstance(after, ast.Constant) else ""
                if isinstance(before, ast.FormattedValue) and isinstance(text, str) and UNIT.match(text):
                    found.append((node.lineno, text))
    return found
