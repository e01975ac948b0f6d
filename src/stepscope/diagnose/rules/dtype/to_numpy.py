from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_WAYS = (
    (r"got unsupported scalartype bfloat16", "NumPy has no bfloat16", ".float()"),
    (r"can't call numpy\(\) on tensor that requires grad", "it still carries its graph", ".detach()"),
    (r"can't convert (cuda|mps|xpu)\S* (device type )?tensor to numpy", "it is on the device", ".cpu()"),
)


@rule("dtype.to-numpy", severity="error", needs="crash", follows=("api.*",))
def to_numpy(run: Evidence) -> Iterator[Proof]:
    """A tensor was to become a NumPy array (or be plotted), and NumPy cannot take it as it is.

    Why it matters: NumPy knows neither gradients, nor GPUs, nor bfloat16.

    What to do: `x.detach().float().cpu().numpy()`, of which each part is needed for one of these.

    Bad:
        accuracy = (logits.numpy().argmax(1) == y.numpy()).mean()
    Good:
        accuracy = (logits.detach().numpy().argmax(1) == y.numpy()).mean()
    """
    crash = run.crash
    way = None if crash is None else next((one for one in _WAYS if crash.says(one[0])), None)
    if crash is None or way is None or crash.last is None:
        return
    _, why, call = way
    node = crash.last.running
    direct = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"
    owner = (
        said(node.func.value) if direct and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    )
    yield Proof(
        where=crash.site,
        message=f"`{owner or said(node)}` cannot become a NumPy array: {why}",
        label=f"needs {call} first",
        evidence={"expression": said(node)},
        fix=f"write {owner}{call}.numpy()" if owner else f"pass the tensor with {call} (and .cpu() on a GPU)",
    )
