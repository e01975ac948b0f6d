"""Why a tensor was not on the chosen device: made without one, a plain attribute, or a batch nobody moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.evidence.devices import LOCAL, Meeting

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin

_CHOICES = re.compile(r"\b(cuda|mps|xpu|hpu|accelerator)\b|--device")


@dataclass(frozen=True)
class Cause:
    kind: str
    """created · attribute · batch · module"""
    root: Origin
    where: Any
    meeting: Meeting


def causes(run: Evidence, kind: str) -> Iterator[Cause]:
    """The causes of one kind, each root once."""
    if run.devices.chosen is None or not _may_choose(run) or _moves_under_a_condition(run):
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


def _moves_under_a_condition(run: Evidence) -> bool:
    """`if use_cuda: x = x.cuda()`: on this machine the moves do not happen, and nothing can be told from them."""
    for file in run.source.files():
        for call in file.calls("cuda"):
            if isinstance(call.func, ast.Attribute) and file.enclosing(call, ast.If, ast.IfExp) is not None:
                return True
    return False


def _cause(run: Evidence, meeting: Meeting) -> Cause | None:
    if meeting.module is not None:
        return Cause("module", meeting.local, meeting.module.made or meeting.place, meeting)
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
        return Cause("attribute", root, _assigned(run, meeting) or root.place, meeting)
    if _is_input(meeting) and root.visit is None and _at_setup(run, root):
        last = meeting.local if meeting.local.place is not None and meeting.local is not root else None
        return Cause("batch", root, meeting.place if last is None else last.place, meeting)
    return Cause("created", root, root.place, meeting)


def _assigned(run: Evidence, meeting: Meeting) -> Any:
    """Where the attribute is given to the module: `self.scale = ...` in its class."""
    if meeting.attribute is None:
        return None
    module, name = meeting.attribute
    for kind, path in module.classes.items():
        file = run.source.file(path)
        for node in file.walk(ast.ClassDef) if file is not None else ():
            if node.name != kind or file is None or not _has_constructor(node):
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and part.attr == name:
                    return file.site(part)
    return None


def _has_constructor(node: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body)


def _is_input(meeting: Meeting) -> bool:
    """Whether the tensor came into the model (or its loss) as data, not as a constant beside it."""
    visit = meeting.visit
    if visit is None:
        return not meeting.local.is_floating or meeting.op.endswith(("loss", "cross_entropy"))
    return any(origin is meeting.local for origin in visit.root.inputs)


def _at_setup(run: Evidence, root: Origin) -> bool:
    """Made before the first batch and the first call of a model."""
    began = run.devices.training_began
    return began is None or root.index <= began
