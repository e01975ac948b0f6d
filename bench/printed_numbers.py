"""Every number that forty scripts of public shape print, against what `stepscope run` records of them.

python bench/printed_numbers.py            the table, and what is missing
python bench/printed_numbers.py vae dcgan  only these
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.numbers.harness import SCRIPTS, compared, shape_of


def main(names: list[str]) -> int:
    scripts = [one for one in sorted(SCRIPTS.glob("*.py")) if not names or one.stem in names]
    print("| script | printed | recorded | steps | series from the console | derived |\n|---|---|---|---|---|---|")
    printed = missing = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in compared(scripts, Path(folder)):
            printed, missing = printed + len(one.printed), missing + len(one.missing)
            said = ", ".join(f"`{name}`" for name in one.said)
            derived = ", ".join(f"`{name}`" for name in one.derived if not name.endswith(("lr", "norm", "ratio")))
            recorded = len(one.printed) - len(one.missing)
            print(f"| {one.name} | {len(one.printed)} | {recorded} | {one.steps} | {said} | {derived} |")
            if one.missing:
                print(
                    f"  missing in {one.name} ({shape_of(SCRIPTS / f'{one.name}.py')}): {one.missing}", file=sys.stderr
                )
    print(f"\n{len(scripts)} scripts, {printed} numbers printed, {printed - missing} recorded to the printed digits")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
