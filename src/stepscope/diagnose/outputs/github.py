"""GitHub's annotations: a line a finding on the standard output, shown beside the code in a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stepscope.diagnose.evidence_words import evidence_words
from stepscope.diagnose.outputs.write_output import place, relative_to
from stepscope.plain_text import clean
from stepscope.records import Finding, Severity

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def write(findings: Iterable[Finding], path: str | os.PathLike[str] = "-", root: Path | None = None) -> None:
    """One annotation a finding; paths are relative to GitHub's checkout, else from the current folder."""
    base = root or Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    place("".join(annotation(one, base) + "\n" for one in findings), path)


def annotation(finding: Finding, root: Path) -> str:
    """The workflow command of one finding.

    >>> print(annotation(Finding(rule="opt.x", severity="info", message="50% off", file="a,b.py", line=3), Path()))
    ::notice file=a%2Cb.py,line=3,title=opt.x::50%25 off
    """
    fields: dict[str, str | int] = {}
    if finding.file:
        fields["file"] = relative_to(root.absolute(), finding.file)
        if finding.line:
            fields["line"] = finding.line
        if finding.line and finding.column is not None:
            fields["col"] = finding.column + 1
            if finding.end_column is not None and finding.end_column > finding.column:
                fields["endColumn"] = finding.end_column
    fields["title"] = finding.rule
    seen = finding.label or evidence_words(finding.evidence)
    words = [finding.message, seen, f"fix: {finding.fix}" if finding.fix else ""]
    text = "\n".join(clean(word, keep_newlines=True) for word in words if word)
    told = ",".join(f"{name}={_property(clean(str(value)))}" for name, value in fields.items())
    return f"::{_COMMANDS[finding.severity]} {told}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
