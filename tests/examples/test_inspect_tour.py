"""The tour of a network runs, shows what its page says, and leaves the files it promises."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "examples" / "inspect_tour.py"


def test_the_tour_shows_the_five_ways(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(TOUR), "--out", str(tmp_path / "tour"), "--runs", "2"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = done.stdout
    assert re.findall(r"^(\d)\. ", said, re.MULTILINE) == ["1", "2", "3", "4", "5"]
    assert "forward functions: {'conv2d': 7, 'add_': 7, 'batch_norm': 7, 'relu': 7, 'add': 3" in said
    assert "with parameters:   ['batch_norm', 'conv2d', 'linear']" in said
    assert re.search(r"DigitNet +64×10 +4,826 +16\.94 M", said)
    assert "no NaN or Inf reaches the loss or a gradient" in said
    born = next(number for number, line in enumerate(TOUR.read_text().splitlines(), 1) if "chances = scores" in line)
    assert f"inspect_tour.py:{born} in Overconfident.forward" in said
    assert "Inf born in exp" in said
    rows = list(csv.DictReader((tmp_path / "tour" / "profile.csv").read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"layer", "op"}
    assert {"stem.0", "blocks.2.conv2", "head"} <= {row["module"] for row in rows}
    assert all(float(row["backward_us"]) > 0 for row in rows if row["module"] == "head" and row["kind"] == "layer")
    assert (tmp_path / "tour" / "net.svg").read_text().startswith("<svg")
    assert "<html" in (tmp_path / "tour" / "net.html").read_text()


def test_the_page_shows_code_of_the_script() -> None:
    script = TOUR.read_text()
    shown = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "inspect_tour.md").read_text(), re.DOTALL)
    assert len(shown) >= 6
    for code in shown:
        assert code in script
