"""`stepscope check --each a.py b.py`: several scripts, each in a process of its own, and one answer for all."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from stepscope.diagnose.outputs import json as json_output, sarif
from stepscope.records import Finding

__all__ = ["check_each"]


def check_each(
    scripts: Sequence[str], options: Sequence[str], *, json_file: Path | None = None, sarif_file: Path | None = None
) -> int:
    """Check one after the other, with the same options; the largest exit code.

    Processes of their own, because scripts change what they like: seeds, devices, the working directory.
    """
    worst, findings = 0, []
    with tempfile.TemporaryDirectory(prefix="stepscope-each-") as folder:
        found = Path(folder, "found.json")
        for script in scripts:
            found.unlink(missing_ok=True)
            command = [sys.executable, "-m", "stepscope", "check", *options, f"--json={found}", "--", script]
            aside = sys.stderr if "-" in (str(json_file), str(sarif_file)) else None
            code = subprocess.run(command, stdout=aside).returncode
            worst = max(worst, code if code >= 0 else 128 - code)
            findings += [_placed(one, script) for one in _read(found)]
    if json_file is not None:
        json_output.write(findings, json_file)
    if sarif_file is not None:
        sarif.write(findings, sarif_file)
    return worst


def _placed(finding: Finding, script: str) -> Finding:
    """With whole paths, as findings have them before they are told; without a place, at the top of its script."""
    file, line = (finding.file, finding.line) if finding.file else (script, 1)
    related = [replace(one, file=os.path.abspath(one.file)) for one in finding.related]
    return replace(finding, file=os.path.abspath(file), line=line, related=related)


def _read(path: Path) -> list[Finding]:
    """What a check found; none where it could not even begin, of which its exit code tells."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Finding])
    except (FileNotFoundError, msgspec.MsgspecError):
        return []
