"""What we derive of an evaluation when nothing is read from the console, against what the script prints of it.

The script runs with its streams replaced before its first line, so no printed number reaches the run; the digits it
printed are compared afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.launch.conftest import launch_all

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

from .harness import is_shown_as, printed_numbers

__all__ = ["Derived", "derived"]

_UNHEARD = "import sys; sys.stdout, sys.stderr = open(1, 'w', closefd=False), open(2, 'w', closefd=False)\n"
_EVALUATED = re.compile(r"^(eval|test|val)")
_PERCENT = re.compile(r"(?<![\w.])(\d+)%")


@dataclass
class Derived:
    """One script: each evaluation series of ours, and which of its values the script prints too."""

    name: str
    series: dict[str, list[float]] = field(default_factory=dict)
    equal: dict[str, int] = field(default_factory=dict)
    differ: dict[str, list[float]] = field(default_factory=dict)
    losses: tuple[int, int] = (0, 0)
    """Values of training losses that the script prints, and all of them."""


def unheard(script: Path, folder: Path) -> Path:
    """A copy of the script, as many lines long, whose streams nobody reads."""
    source = script.read_text()
    docstring, _, rest = source.partition("\n")
    copy = folder / script.name
    copy.write_text(f"{docstring}\n{_UNHEARD}{rest}")
    return copy


def derived(scripts: list[Path], folder: Path) -> list[Derived]:
    """Run them in forks of one process, and compare the evaluations of their runs with what they printed."""
    cases = []
    for script in scripts:
        (own := folder / script.stem).mkdir(parents=True)
        cases.append({"args": ["run", "--dir", str(own / "runs"), str(unheard(script, own))], "cwd": str(own)})
    done = launch_all(cases, torch=True)
    found = []
    for script, one in zip(scripts, done, strict=True):
        assert one.code == 0, f"{script.name}: {one.err}"
        found.append(judge(script.stem, one.out + one.err, folder / script.stem / "runs"))
    return found


def judge(name: str, text: str, folder: Path) -> Derived:
    printed = printed_numbers(text) + _PERCENT.findall(text)
    found = Derived(name)
    losses: list[float] = []
    for info in runs(folder):
        run = RunFolder(info.path)
        for metric in run.metrics():
            values = [float(value) for value in run.series(metric).values]
            if _EVALUATED.match(metric):
                found.series[metric] = values
                found.differ[metric] = [value for value in values if not _is_printed(metric, value, printed)]
                found.equal[metric] = len(values) - len(found.differ[metric])
            elif metric.startswith("train") and not metric.endswith(("lr", "norm", "ratio", "epoch")):
                losses += values
    found.losses = sum(_is_printed("loss", value, printed) for value in losses), len(losses)
    return found


def _is_printed(metric: str, value: float, printed: list[str]) -> bool:
    forms = (value, 100 * value) if metric.endswith("accuracy") else (value,)
    return any(is_shown_as(one, digits) for one in forms for digits in printed)
