from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stepscope.profile.analyses.analysis import all_analyses


def test_every_analysis_is_written_about() -> None:
    pages = "".join(path.read_text() for path in (Path(__file__).parents[3] / "docs").rglob("*.md"))
    missing = [id for id in all_analyses() if f"`{id}`" not in pages]
    assert missing == [], f"docs/ says nothing of {missing}; docs/analyses.md has a table of all"


def test_every_analysis_says_what_it_is() -> None:
    assert [id for id, one in all_analyses().items() if not one.summary.endswith((".", "..."))] == []


def test_analyses_need_no_torch() -> None:
    code = (
        "import sys; from stepscope.profile.analyses.analysis import all_analyses; all_analyses();"
        "print([name for name in ('torch', 'pandas', 'numpy.ma') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
