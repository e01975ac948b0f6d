"""What a script divides its sums by, read from the source of the function that evaluates."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from stepscope.launch.sum_divisors import divides_by_samples

LOOP = """
def evaluate(model, loader, test_set):
    total, n, words = 0.0, 0, 0
    for x, y in loader:
        total += criterion(model(x), y).item()
        n += x.size(0)
        words += y.numel()
    {end}
"""


@pytest.mark.parametrize(
    ("end", "is_by_samples"),
    [
        ("return total / len(loader.dataset)", True),
        ("total /= len(test_set)\n    print(100 * total)", True),
        ("return total / n", True),
        ("return total / n / 3", True),
        ("return total / words", False),
        ("return total / len(loader)", False),
        ("return total / n, total / words", False),
        ("return total", False),
        ("return total / 10000", False),
        ("print(3 / len(loader), words / 2)\n    return total / n", True),
    ],
)
def test_only_samples_count(tmp_path: Path, end: str, is_by_samples: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(LOOP).format(end=end))
    assert divides_by_samples(str(script), 4) is is_by_samples
    assert divides_by_samples(str(script), 99) is False
