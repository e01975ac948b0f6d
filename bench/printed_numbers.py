"""Every number that scripts of public shape print, against what `stepscope run` records of them.

python bench/printed_numbers.py            the table, and what is missing
python bench/printed_numbers.py vae dcgan  only these
python bench/printed_numbers.py --derived  with the console unread: our own evaluations, against what is printed

The scripts of tests/numbers/trainers (Lightning, transformers, Accelerate) are among them where those packages are
installed: $(scripts/ecosystem --python) bench/printed_numbers.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("USE_TF", "0")

from tests.numbers.derived import derived
from tests.numbers.harness import SCRIPTS, compared, shape_of

TRAINERS = SCRIPTS.parent / "trainers"
WANTED = ("lightning", "transformers", "accelerate")


def main(words: list[str]) -> int:
    names = [word for word in words if not word.startswith("--")]
    found = list(SCRIPTS.glob("*.py"))
    if all(find_spec(package) for package in WANTED):
        found += TRAINERS.glob("*.py")
    scripts = sorted((one for one in found if not names or one.stem in names), key=lambda one: one.stem)
    with tempfile.TemporaryDirectory() as folder:
        show = show_derived if "--derived" in words else show_recorded
        return show(scripts, Path(folder))


def show_recorded(scripts: list[Path], folder: Path) -> int:
    print("| script | printed | counters | recorded | steps | series from the console | derived |")
    print("|---|---|---|---|---|---|---|")
    printed = missing = counters = 0
    for path, one in zip(scripts, compared(scripts, folder), strict=True):
        printed, missing = printed + len(one.printed), missing + len(one.missing)
        counters += len(one.counters)
        said = ", ".join(f"`{name}`" for name in one.said)
        derived = ", ".join(f"`{name}`" for name in one.derived if not name.endswith(("lr", "norm", "ratio")))
        recorded = len(one.printed) - len(one.counters) - len(one.missing)
        print(
            f"| {one.name} | {len(one.printed)} | {len(one.counters)} | {recorded} | {one.steps} | {said} | {derived} |"
        )
        if one.missing:
            print(f"  missing in {one.name} ({shape_of(path)}): {one.missing}", file=sys.stderr)
    recorded = printed - counters - missing
    print(f"\n{len(scripts)} scripts, {printed} numbers printed, {recorded} recorded to the printed digits, each as")
    print(f"a point of its own; {counters} say how far the training is (epochs, updates) and are no series")
    return 1 if missing else 0


def show_derived(scripts: list[Path], folder: Path) -> int:
    """Evaluations by their series, and how many of their points are printed too."""
    print(
        "| script | our evaluations: points that are printed too, of all | not printed | losses printed too, of all |"
    )
    print("|---|---|---|---|")
    equal = points = 0
    for one in derived(scripts, folder):
        equal += sum(one.equal.values())
        points += sum(map(len, one.series.values()))
        shown = ", ".join(f"`{name}` {one.equal[name]} of {len(values)}" for name, values in one.series.items())
        others = ", ".join(f"{value:.4f}" for values in one.differ.values() for value in values)
        print(f"| {one.name} | {shown} | {others} | {one.losses[0]} of {one.losses[1]} |")
    print(f"\n{len(scripts)} scripts, {points} points of evaluations derived, {equal} of them printed too")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
