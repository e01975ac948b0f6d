"""`stepscope check --each a.py b.py`: several scripts, each in a process of its own, and one answer for all."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from stepscope.diagnose.outputs import json as json_output, sarif
from stepscope.diagnose.outputs.write_output import with_paths
from stepscope.records import Finding
from stepscope.records.verdict import CheckDocument, ScriptVerdict


def check_each(
    scripts: Sequence[str], options: Sequence[str], *, json_file: Path | None = None, sarif_file: Path | None = None
) -> int:
    """Check one after the other, with the same options; the largest exit code.

    Processes of their own, because scripts change what they like: seeds, devices, the working directory.
    """
    worst = 0
    findings: list[Finding] = []
    verdicts: list[ScriptVerdict] = []
    with tempfile.TemporaryDirectory(prefix="stepscope-each-") as folder:
        found = Path(folder, "found.json")
        for script in scripts:
            found.unlink(missing_ok=True)
            command = [sys.executable, "-m", "stepscope", "check", *options, f"--json={found}", "--", script]
            aside = sys.stderr if "-" in (str(json_file), str(sarif_file)) else None
            code = subprocess.run(command, stdout=aside).returncode
            code = code if code >= 0 else 128 - code
            worst = max(worst, code)
            told = json_output.read(found)
            findings += [_placed(one, script) for one in (told.findings if told is not None else ())]
            verdicts.append(_judged(told, script, code))
    if json_file is not None:
        json_output.write(findings, json_file, scripts=verdicts)
    if sarif_file is not None:
        sarif.write(findings, sarif_file)
    return worst


def _placed(finding: Finding, script: str) -> Finding:
    """With whole paths, as findings have them before they are reported; without a place, at the top of its script."""
    file, line = (finding.file, finding.line) if finding.file else (script, 1)
    return with_paths(replace(finding, file=file, line=line), os.path.abspath)


def _judged(told: CheckDocument | None, script: str, code: int) -> ScriptVerdict:
    """With its process's exit code; one that could not begin, or was killed on the way, has failed."""
    known = told.scripts[0] if told is not None and told.scripts else None
    if known is None:
        return ScriptVerdict(script=script, verdict="failed", headline="it could not be checked", exit_code=code)
    if known.verdict == "running":
        return replace(known, script=script, verdict="failed", headline="it ended on the way", exit_code=code)
    return replace(known, script=script, exit_code=code)
