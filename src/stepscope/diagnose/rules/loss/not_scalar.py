from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.value_origin import bound, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site


@rule("loss.not-scalar", severity="error", needs="crash")
def not_scalar(run: Evidence) -> Iterator[Proof]:
    """`backward` was called on several numbers instead of one.

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
    if crash is None or crash.last is None or not crash.says(r"grad can be implicitly created only for scalar outputs"):
        return
    frame, node = crash.last, crash.last.running
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value if not node.args else node.args[0]
    value = frame.value_of(owner)
    made = origin_of(crash, frame, owner)
    unreduced = _unreduced(crash, frame, made.node)
    name = ast.unparse(owner)
    shape = list(value.shape) if isinstance(value, HeldTensor) else None
    held = "several numbers" if shape is None else f"numbers of shape {shape}"
    yield Proof(
        where=unreduced or made.site,
        message=f"`{name}` holds {held}, and backward needs one number",
        label='reduction="none" keeps one loss per sample' if unreduced is not None else f"shape {shape}",
        evidence={"name": name, "shape": shape},
        fix=f"reduce it first: {name}.mean().backward()"
        + (', or leave out reduction="none"' if unreduced is not None else ""),
        related=[(frame.site, "backward is called here")] if frame.line != (unreduced or made.site).line else [],
    )


def _unreduced(crash: Crash, frame: Frame, node: ast.AST) -> Site | None:
    """Where a loss was told not to reduce: in this call, or when the loss function was made."""
    for call in [one for one in ast.walk(node) if isinstance(one, ast.Call)]:
        if _says_none(call):
            return node_site(frame.file, call)
        if isinstance(call.func, (ast.Name, ast.Attribute)):
            binding = bound(frame, ast.unparse(call.func), frame.value_of(call.func))
            if binding is not None and isinstance(binding.value, ast.Call) and _says_none(binding.value):
                return binding.site
    return None


def _says_none(call: ast.Call) -> bool:
    words = {word.arg: word.value for word in call.keywords}
    for name, value in (("reduction", "none"), ("reduce", False)):
        given = words.get(name)
        if isinstance(given, ast.Constant) and given.value == value:
            return True
    return False
