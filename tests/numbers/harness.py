"""Run a script under `stepscope run` and compare every number it prints with what was recorded."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.launch.conftest import Done, launch_all

from stepscope.launch.printed.read_line import read_line
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

SCRIPTS = Path(__file__).parent / "scripts"
_NUMBER = re.compile(r"(?<![\w.@^:/-])[-+]?\d+\.\d+(?:e[-+]?\d+)?(?![\w.]|:\d)(?:\s?%)?", re.IGNORECASE)
_OURS = ("train/", "train2/", "eval/", "test/")
_METERS = ("system/", "speed/", "time/", "memory/", "process/", "epoch")


@dataclass
class Compared:
    """One script: what it printed and which of it is in the run."""

    name: str
    printed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Printed, without a point of its own in a series under a printed name."""
    counters: list[str] = field(default_factory=list)
    """Printed to say how far the training is: epochs and updates with a fraction. They are no series."""
    said: dict[str, list[float]] = field(default_factory=dict)
    """Series under printed names."""
    derived: dict[str, list[float]] = field(default_factory=dict)
    """Our own series: losses, norms, evaluations."""
    steps: int = 0
    err: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.missing


def printed_numbers(text: str) -> list[str]:
    """Every number with a decimal point, as its digits stand there.

    >>> printed_numbers("Epoch 1 loss: 0.530 acc 81.25% at 12:30:01.5 conv2.weight v1.2.3")
    ['0.530', '81.25']
    """
    return [found[0].rstrip("% ") for found in _NUMBER.finditer(text)]


def is_shown_as(value: float, digits: str) -> bool:
    """Whether a value, rounded to the printed digits, is what was printed.

    >>> is_shown_as(0.53004, "0.530"), is_shown_as(0.54, "0.530"), is_shown_as(6.9, "6.9000e+00")
    (True, False, True)
    """
    mantissa, _, exponent = digits.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - places)
    return abs(value - float(digits)) <= half


def compared(scripts: list[Path], folder: Path) -> list[Compared]:
    """Run them in forks of one process, and look at what their runs hold."""
    cases: list[dict[str, Any]] = []
    for script in scripts:
        (folder / script.stem).mkdir(parents=True)
        args = ["run", "--dir", str(folder / script.stem), str(script)]
        cases.append({"args": args, "cwd": str(folder / script.stem)})
    done = launch_all(cases, torch=True)
    return [judge(script, one, folder / script.stem) for script, one in zip(scripts, done, strict=True)]


def judge(script: Path, done: Done, folder: Path) -> Compared:
    assert done.code == 0, f"{script.name}: {done.err}"
    return compare(script.stem, done.out, done.err, folder)


def compare(name: str, out: str, err: str, folder: Path) -> Compared:
    own = "\n".join(line for line in err.replace("\r", "\n").splitlines() if "%|" in line)
    own = re.sub(r"\d\d:\d\d.*?it/s", "", own)
    found = Compared(name, err=err)
    lines = [line for line in out.splitlines() if not is_vector(line)]
    found.printed = printed_numbers("\n".join([*lines, own]))
    series: dict[str, list[float]] = {}
    overall: list[float] = []
    for info in runs(folder):
        run = RunFolder(info.path) if not isinstance(info, RunFolder) else info
        overall += [float(value) for value in run.summary.values() if isinstance(value, int | float)]
        for metric in run.metrics():
            if not metric.startswith(_METERS):
                series[metric] = [float(value) for value in run.series(metric).values]
    found.derived = {metric: values for metric, values in series.items() if metric.startswith(_OURS)}
    found.said = {metric: values for metric, values in series.items() if metric not in found.derived}
    found.steps = max((len(one) for metric, one in found.derived.items() if metric.startswith("train")), default=0)
    found.counters = [digits for line in lines for digits in counters_in(line)]
    # A trainer that logs its evaluations has them under `eval/`; our own training losses stand for nothing printed.
    not_felt = [values for metric, values in series.items() if not metric.startswith("train/")]
    points = [value for values in not_felt for value in values] + overall
    found.missing = without_a_point(without(found.printed, found.counters), points)
    return found


def counters_in(line: str) -> list[str]:
    read = read_line(line)
    named = [*read.numbers.values(), *read.nameless]
    counts = [int(said) for said in (read.epoch, read.step) if said is not None]
    found = [digits for digits in printed_numbers(line) if float(digits) not in named]
    return [digits for digits in found if int(float(digits)) in counts]


def without(printed: list[str], counters: list[str]) -> list[str]:
    left = list(printed)
    for digits in counters:
        left.remove(digits)
    return left


def without_a_point(printed: list[str], points: list[float]) -> list[str]:
    """Each point stands for one printed number.

    >>> without_a_point(["0.5", "0.5", "0.25"], [0.5, 0.25, 7.0])
    ['0.5']
    """
    free, missing = list(points), []
    for digits in printed:
        shown = next((value for value in free if is_shown_as(value, digits)), None)
        if shown is None:
            missing.append(digits)
        else:
            free.remove(shown)
    return missing


def is_vector(line: str) -> bool:
    """A printed tensor of several values, or a formula, is not a number that could be a series."""
    return "tensor([" in line or (line.lstrip().startswith("[") and line.rstrip().endswith("])")) or " x^2" in line


def shape_of(script: Path) -> str:
    """The first line of its docstring."""
    return (ast.get_docstring(ast.parse(script.read_text())) or "").splitlines()[0]
