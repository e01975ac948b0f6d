from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.syntax import said, statement_at, tree_of
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.turning_point import made_line
from stepscope.diagnose.crash.value_origin import origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

_LOSS = re.compile(r"loss|cross_entropy|kl_div")
_SIGNS = (
    r"grad can be implicitly created only for scalar outputs",
    r"a tensor with \d+ elements cannot be converted to scalar|only one element tensors can be converted",
)


@rule("loss.not-scalar", severity="error", needs="crash")
def not_scalar(run: Evidence) -> Iterator[Proof]:
    """`backward` or `item` was called on several numbers instead of one.

    Why it matters: a gradient is that of one number. Losses with `reduction="none"`, and losses written without a final
    `mean()`, give one number per sample.

    What to do: take the mean (or the sum) before `backward`.

    Bad:
        loss = (prediction - target) ** 2
        loss.backward()
    Good:
        loss = ((prediction - target) ** 2).mean()
        loss.backward()
    """
    crash = run.crash
    if crash is None or crash.last is None or not crash.says(*_SIGNS):
        return
    frame, node = crash.last, crash.last.running
    if not isinstance(node, ast.Call):
        return
    method = isinstance(node.func, ast.Attribute) and not node.args
    owner = node.func.value if method and isinstance(node.func, ast.Attribute) else (node.args or [node.func])[0]
    value = frame.value_of(owner)
    backward = crash.says(_SIGNS[0])
    unreduced = _unreduced(value) if isinstance(value, HeldTensor) else None
    if not backward and unreduced is None:
        return
    where = unreduced or (made_line(value) if isinstance(value, HeldTensor) else None)
    where = where or origin_of(crash, frame, owner).site
    name, use = ast.unparse(owner), "backward" if backward else f"`{said(node.func)}`"
    shape = list(value.shape) if isinstance(value, HeldTensor) else None
    held = "several numbers" if shape is None else f"numbers of shape {shape}"
    reduced = f"{name}.mean().{'backward' if backward else 'item'}()"
    yield Proof(
        where=where,
        message=f"`{name}` holds {held}, and {use} needs one number",
        label='reduction="none" keeps one loss per sample' if unreduced is not None else f"shape {shape}",
        evidence={"name": name, "shape": shape},
        fix=f"reduce it first: {reduced}" + (', or leave out reduction="none"' if unreduced is not None else ""),
        related=[(frame.site, f"{use} is called here")] if frame.line != where.line else [],
    )


def _unreduced(tensor: HeldTensor) -> Site | None:
    """Where the loss that gave this tensor was told not to reduce: in its call, or when the loss was made."""
    made = made_line(tensor)
    statement = None if made is None else statement_at(made.file, made.line)
    if made is None or statement is None or tensor.origin is None or not _LOSS.search(tensor.origin.op):
        return None
    for call in [one for one in ast.walk(statement) if isinstance(one, ast.Call)]:
        if _says_none(call):
            return node_site(made.file, call)
        name = ast.unparse(call.func)
        for one in ast.walk(tree_of(made.file) or ast.Module([], [])):
            bound = [ast.unparse(target) for target in one.targets] if isinstance(one, ast.Assign) else []
            value = one.value if isinstance(one, ast.Assign) and name in bound else None
            if isinstance(value, ast.Call) and _says_none(value):
                return node_site(made.file, value)
    return None


def _says_none(call: ast.Call) -> bool:
    words = {word.arg: word.value for word in call.keywords}
    for name, value in (("reduction", "none"), ("reduce", False)):
        given = words.get(name)
        if isinstance(given, ast.Constant) and given.value == value:
            return True
    return False
