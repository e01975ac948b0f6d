"""`--json FILE`: the verdict, the counts and the findings in one document that every parser reads."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from stepscope.diagnose.outputs.write_output import place, relative_to, with_paths
from stepscope.files.opening import read_file
from stepscope.records import Finding
from stepscope.records.verdict import CheckDocument, ScriptVerdict, Verdict

_LARGEST = 256 << 20

_WORST_FIRST: tuple[Verdict, ...] = ("failed", "suspicious", "running", "not checked", "passed")


def write(
    findings: Sequence[Finding],
    path: str | os.PathLike[str],
    root: Path | None = None,
    *,
    command: str = "check",
    scripts: Sequence[ScriptVerdict] = (),
) -> None:
    """One document; `-` is the standard output.

    Paths are written as the user types them: from `root` (the current folder by default) where they lie below it.
    """
    base = (root or Path.cwd()).absolute()
    document = CheckDocument(
        command=command,
        verdict=next((one for one in _WORST_FIRST if any(one == script.verdict for script in scripts)), "not checked"),
        counts=_counts(findings),
        scripts=[replace(one, script=relative_to(base, one.script)) for one in scripts],
        findings=[_from(base, one) for one in findings],
    )
    text = msgspec.json.format(msgspec.json.encode(as_json(document)), indent=2).decode()
    place(text + "\n", path)


def read(path: Path) -> CheckDocument | None:
    """What `write` left; None where there is nothing of the kind, such as a command's error."""
    try:
        return msgspec.json.decode(read_file(path, _LARGEST), type=CheckDocument)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Every severity is there, so that a reader need not ask."""
    found = Counter(one.severity for one in findings)
    return {"error": found["error"], "warning": found["warning"], "info": found["info"]}


def _from(root: Path, finding: Finding) -> Finding:
    return with_paths(finding, lambda file: relative_to(root, file))


def as_json(record: msgspec.Struct) -> dict[str, Any]:
    """A record with every field present, so that a reader need not ask which are there.

    >>> found = as_json(Finding(rule="num.nan", severity="error", message="NaN", evidence={"loss": float("nan")}))
    >>> found["evidence"], found["file"], found["fix"]
    ({'loss': 'NaN'}, None, '')
    """
    return {name: _plain(getattr(record, name)) for name in record.__struct_fields__}


def _plain(value: Any) -> Any:
    """What JSON has no word for becomes text: NaN and infinities by name, everything else as it prints."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):  # numpy's too
        return int(value) if abs(int(value)) < 2**63 else str(value)
    if isinstance(value, Real):
        value = float(value)
        return value if math.isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    if isinstance(value, msgspec.Struct):
        return as_json(value)
    return _plain(str(value))
