"""`--output lines`: one line a finding, as compilers print them, for editors that read them back.

`train.py:8:5: error: gradients pile up; call optimizer.zero_grad() before line 8 [opt.no-zero-grad]`. The problem
matcher that `stepscope init-vscode` writes reads exactly this (`PATTERN`).
"""

from __future__ import annotations

from pathlib import Path

from stepscope.diagnose.outputs.write_output import relative_to
from stepscope.plain_text import clean
from stepscope.records import Finding

PATTERN = r"^(.+?):(\d+):(\d+)-(\d+): (error|warning|info): (.*) \[([\w.-]+)\]$"
"""File, line, first column and the one after the last, severity, message, rule; for Python and for JavaScript."""


def line(finding: Finding, root: Path) -> str:
    """The finding on one line; columns from 1, the second is after the last letter, as editors count.

    >>> print(line(Finding(rule="opt.x", severity="error", message="it grows", file="a.py", line=3), Path()))
    a.py:3:1-1: error: it grows [opt.x]
    """
    words = "; ".join(part for part in (finding.message, finding.label, finding.fix) if part)
    told = f"{finding.severity}: {' '.join(clean(words).split())} [{finding.rule}]"
    if not finding.file or not finding.line:
        return f"stepscope: {told}"
    first = 1 if finding.column is None else finding.column + 1
    last = max(first, (finding.end_column or 0) + 1)
    return f"{clean(relative_to(root.absolute(), finding.file))}:{finding.line}:{first}-{last}: {told}"
