"""`--json FILE`: a list of findings as JSON that every parser reads."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from stepscope.diagnose.outputs.placing import place, relative_to
from stepscope.records import Finding

__all__ = ["as_json", "write"]


def write(findings: Iterable[Finding], path: str | os.PathLike[str], root: Path | None = None) -> None:
    """All findings in one file, an empty list when there are none; `-` is the standard output.

    Paths are told as the user types them: from `root` (the current folder by default) where they lie below it.
    """
    base = (root or Path.cwd()).absolute()
    told = [as_json(_from(base, one)) for one in findings]
    text = msgspec.json.format(msgspec.json.encode(told), indent=2).decode()
    place(text + "\n", path)


def _from(root: Path, finding: Finding) -> Finding:
    related = [replace(one, file=relative_to(root, one.file)) for one in finding.related]
    return replace(finding, file=relative_to(root, finding.file) if finding.file else finding.file, related=related)


def as_json(finding: Finding) -> dict[str, Any]:
    """One finding with every field present, so that a reader need not ask which are there.

    >>> found = as_json(Finding(rule="num.nan", severity="error", message="NaN", evidence={"loss": float("nan")}))
    >>> found["evidence"], found["file"], found["fix"]
    ({'loss': 'NaN'}, None, '')
    """
    return {name: _plain(getattr(finding, name)) for name in Finding.__struct_fields__}


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
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    return _plain(str(value))
