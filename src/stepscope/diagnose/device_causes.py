"""Why a tensor was not on the chosen device: made without one, a plain attribute, or a batch nobody moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.record.watch.devices import LOCAL, Meeting

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.record.watch.origin import Origin

__all__ = ["Cause", "causes"]

_CHOICES = re.compile(r"\b(cuda|mps|xpu|hpu|accelerator)\b|--device")


@dataclass(frozen=True)
class Cause:
    kind: str
    """created · attribute · batch"""
    root: Origin
    where: Any
    meeting: Meeting


def causes(run: Evidence, kind: str) -> Iterator[Cause]:
    """The causes of one kind, each root once."""
    if run.devices.chosen is None or not _may_choose(run):
        return
    seen = set()
    for meeting in run.devices.meetings:
        cause = _cause(run, meeting)
        if cause is not None and cause.kind == kind and cause.where not in seen:
            seen.add(cause.where)
            yield cause


def _may_choose(run: Evidence) -> bool:
    """Whether the script can run on anything but a CPU: otherwise there is nothing to get wrong."""
    return any(_CHOICES.search(file.text) for file in run.source.files())


def _cause(run: Evidence, meeting: Meeting) -> Cause | None:
    roots = [
        origin
        for origin in meeting.local.ancestors(through=lambda o: o.home == LOCAL and o.kind != "data")
        if origin.home == LOCAL and (origin.kind == "data" or not any(o.home == LOCAL for o in origin.inputs))
    ]
    if not roots:
        return None
    data = next((origin for origin in roots if origin.kind == "data"), None)
    if data is not None:
        return Cause("batch", data, data.loader.iterated if data.loader is not None else data.place, meeting)
    root = roots[0]
    if root.kind == "outside" or root.place is None:
        return None
    if meeting.attribute is not None and root.visit is None:
        return Cause("attribute", root, root.place, meeting)
    if _is_input(run, meeting) and root.visit is None and root.step == 0 and _at_setup(run, root):
        last = meeting.local if meeting.local.place is not None and meeting.local is not root else None
        return Cause("batch", root, meeting.place if last is None else last.place, meeting)
    return Cause("created", root, root.place, meeting)


def _is_input(run: Evidence, meeting: Meeting) -> bool:
    """Whether the tensor came into the model (or its loss) as data, not as a constant beside it."""
    visit = meeting.visit
    if visit is None:
        return meeting.local.dtype.is_floating_point is False or meeting.op.endswith(("loss", "cross_entropy"))
    return any(origin is meeting.local for origin in visit.root.inputs)


def _at_setup(run: Evidence, root: Origin) -> bool:
    first = run.visits.roots[0] if run.visits.roots else None
    return (
        first is None or not first.inputs or root.index < min((o.index or 10**12) for o in (root, *first.outputs)) + 1
    )
