from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said, statement_at
from stepscope.diagnose.crash.bindings import bound_before, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.op_chain import mainline
from stepscope.diagnose.crash.provenance import names_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

_SIGNS = (
    r"expected (\d-?d|at least)",
    r"dimension out of range",
    r"got \d-?d input",
    r"must match",
    r"zero-dim|0-d tensor|0-dim",
    r"cannot be multiplied",
    r"size mismatch|batch_size|target size|too many indices",
)


@rule("shape.lost-axis", severity="error", needs="crash")
def lost_axis(run: Evidence) -> Iterator[Proof]:
    """`squeeze()` without an axis removed one that is still needed: that of a single sample, or of a single feature.

    Why it matters: `squeeze()` removes every axis of size 1. It works until a batch has one sample, or a layer has one
    output.

    What to do: name the axis: `squeeze(-1)`, or `flatten(1)`.

    How it is found: the tensors of the failing operation are followed back; one passed a squeeze that removed more than
    one axis, or the only one that the operation needs.

    Bad:
        x = self.pool(x).squeeze()
    Good:
        x = self.pool(x).flatten(1)
    """
    crash = run.crash
    if crash is None or not crash.is_a("RuntimeError", "ValueError", "IndexError") or not crash.says(*_SIGNS):
        return
    found = _squeezed(crash) or _before_backward(crash)
    if found is None:
        return
    name, site, before, after = found
    gone = len(before) - len(after)
    batch = bool(before) and before[0] == 1 and gone > 1
    what = "the batch axis of the only sample" if batch else "an axis of size 1 that is needed"
    keep = [axis for axis, size in enumerate(before) if size == 1 and axis > 0]
    yield Proof(
        where=site,
        message=f"`squeeze()` turns {list(before)} into {list(after)}: it also removes {what}",
        label=f"{list(before)} -> {list(after)}",
        evidence={"before": list(before), "after": list(after), "tensor": name},
        fix=f"name the axes: squeeze({keep[0] if len(keep) == 1 else tuple(keep)})"
        if batch and keep
        else _kept(before),
        related=[(crash.site, "it fails here")] if crash.site is not None and crash.site.line != site.line else [],
    )


def _kept(before: tuple[int, ...]) -> str:
    if len(before) == 2:
        return "leave the squeeze out here, and use squeeze(1) where one axis must go"
    return "name the axis to remove: squeeze(-1), or use flatten(1)"


def _squeezed(crash: Crash) -> tuple[str, Site, tuple[int, ...], tuple[int, ...]] | None:
    tensors = [*crash.operands]
    if crash.layer is not None:
        tensors += crash.layer.inputs
    for name, tensor in tensors:
        for link in mainline(tensor):
            if link.op not in ("squeeze", "squeeze_", "dropout", "relu", "to", "float"):
                break
            if link.op.startswith("squeeze") and link.before is not None and link.shape is not None:
                site = link.site or _by_name(crash, name, tensor)
                if site is None or len(link.before) == len(link.shape) or not _is_bare(site):
                    break
                return name, site, link.before, link.shape
    return None


def _before_backward(crash: Crash) -> tuple[str, Site, tuple[int, ...], tuple[int, ...]] | None:
    """A backward that fails has no operands: the loss is followed all the way, to a squeeze of a batch of one."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    loss = frame.value_of(call.func.value) if call.func.attr == "backward" else None
    for link in mainline(loss) if isinstance(loss, HeldTensor) else ():
        if link.op.startswith("squeeze") and link.before and link.shape is not None and link.site is not None:
            ate_batch = link.before[0] == 1 and len(link.before) - len(link.shape) > 1
            if ate_batch and _is_bare(link.site):
                return said(call.func.value), link.site, link.before, link.shape
    return None


def _is_bare(site: Site) -> bool:
    """Whether the squeeze names no axis."""
    statement = statement_at(site.file, site.line)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("squeeze"):
            given = len(node.args) + len(node.keywords)
            if given == (1 if said(node.func.value) == "torch" else 0):
                return True
    return False


def _by_name(crash: Crash, name: str, tensor: HeldTensor) -> Site | None:
    for known, frame in names_of(crash, tensor):
        scope = scope_of(frame)
        binding = None if scope is None else bound_before(frame.file, scope, known, frame.line)
        if binding is not None:
            return binding.site
    return None
