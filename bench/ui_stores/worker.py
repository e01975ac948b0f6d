"""Runs inside a venv of its own: `make TOOL CASE FOLDER POINTS` writes a store, `serve TOOL FOLDER PORT` serves it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).parent.resolve()]
sys.path.insert(0, str(Path(__file__).parent.parent))


def main(task: str, tool: str, *rest: str) -> None:
    from ui_stores.cases import CASES

    kind = importlib.import_module(f"ui_stores.{tool}")
    if task == "make":
        case, folder, points = rest
        kind.make(Path(folder), CASES[case].smaller(int(points)))
    else:
        folder, port = rest
        sys.exit(kind.serve(Path(folder), int(port)).wait())


if __name__ == "__main__":
    main(*sys.argv[1:])
