"""Run queries that several kinds of panels share."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from stepscope.common.units import listed
from stepscope.errors import NotFound, UsageError
from stepscope.runs.read.folder import RunFolder
from stepscope.views.report.panel import Bound


def folders(bound: Bound) -> list[RunFolder]:
    """The panel's runs, opened; runs deleted meanwhile are omitted."""
    found = []
    for run in bound.runs:
        try:
            found.append(bound.ctx.runs.get(run))
        except NotFound:
            continue
    return found


def keys_of(bound: Bound, kinds: set[str] | None = None) -> list[str]:
    """What the panel's runs logged: the names of their series, or of their media of some kinds."""
    found: dict[str, None] = {}
    if kinds is None:  # the catalog has them: no run must be opened while the user types
        for entry in bound.entries:
            found.update(dict.fromkeys(entry.metrics.names))
        return list(found)
    for folder in folders(bound):
        media = folder.media_keys().items()
        found.update(dict.fromkeys(key for key, kind in media if not kinds or kind in kinds))
    return list(found)


def need_keys(bound: Bound, wanted: list[str], known: list[str], option: str = "key") -> None:
    """Reject names that none of the runs has, and suggest close ones."""
    have = f"the runs have {listed(known)}" if known else "the runs have none"
    if not wanted:
        raise UsageError(f"{bound.kind.name} needs {option}; {have}")
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else have
            raise UsageError(f"none of the runs has {name!r}; {hint}")


def smooth_words(value: Any) -> str:
    """Check a smoothing such as `ema:0.6`."""
    text = str(value)
    kind, _, amount = text.partition(":")
    try:
        number = float(amount or 0)
    except ValueError:
        number = -1.0
    if kind not in ("none", "ema", "gaussian", "mean") or number < 0 or (kind == "ema" and number >= 1):
        raise UsageError(f"smooth cannot be {text!r}; write ema:0.6, gaussian:20, mean:10 or none")
    return text
