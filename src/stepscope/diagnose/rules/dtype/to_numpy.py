from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said, tree_of
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_WAYS = (
    (r"got unsupported scalartype bfloat16", "NumPy has no bfloat16", ".float()"),
    (r"can't call numpy\(\) on tensor that requires grad", "it still carries its graph", ".detach()"),
    (r"can't convert (cuda|mps|xpu)\S* (device type )?tensor to numpy", "it is on the device", ".cpu()"),
)


@rule("dtype.to-numpy", severity="error", needs="crash", follows=("api.*",))
def to_numpy(run: Evidence) -> Iterator[Proof]:
    """A tensor was to be converted to NumPy (or plotted), and NumPy cannot convert it.

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
    listed = collected_at(crash) if way is _WAYS[1] else None
    if listed is not None:
        yield listed
        return
    _, why, call = way
    node = crash.last.running
    direct = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"
    owner = (
        said(node.func.value) if direct and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    )
    computed = None if direct or way is not _WAYS[1] else _in_numpy(crash)
    if computed is not None:
        yield computed
        return
    yield Proof(
        where=crash.site,
        message=f"`{owner or said(node)}` cannot become a NumPy array: {why}",
        label=f"needs {call} first",
        evidence={"expression": said(node)},
        fix=f"write {owner}{call}.numpy()" if owner else f"pass the tensor with {call} (and .cpu() on a GPU)",
    )


def _in_numpy(crash: Crash) -> Proof | None:
    """`np.multiply(weights, losses)` with a tensor that has a graph: NumPy would end the gradient."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call) or not said(call.func).startswith(("np.", "numpy.")):
        return None
    held = {said(one): frame.value_of(one) for one in call.args}
    names = [name for name, one in held.items() if isinstance(one, HeldTensor) and one.requires_grad]
    if not names:
        return None
    return Proof(
        where=crash.site,
        message=f"`{said(call.func)}` is NumPy's, and `{names[0]}` carries a graph, which NumPy cannot",
        label=f"{names[0]} requires grad",
        evidence={"expression": said(call)},
        fix="for a loss use functions of torch, with torch.as_tensor(...) around arrays; for a metric or a plot pass "
        f"{names[0]}.detach()",
    )


def collected_at(crash: Crash) -> Proof | None:
    """A list of tensors with their graphs: numbers were meant, and the line that appends them can take those."""
    frame = crash.last
    for node in ast.walk(frame.running or ast.Pass()) if frame is not None else ():
        if frame is None or not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        items = several(frame.value_of(node), "list")
        tensors = [one for one in items or () if isinstance(one, HeldTensor) and one.requires_grad]
        appended = _appended(frame.file, said(node)) if tensors else None
        if appended is None:
            continue
        one, scalar = said(appended.args[0], 200), tensors[0].ndim == 0
        plain = ".item()" if scalar else ".detach().cpu()"
        return Proof(
            where=node_site(frame.file, appended),
            message=f"`{said(node)}` keeps tensors with their graphs, and NumPy cannot read those",
            label="a tensor with its graph",
            evidence={"list": said(node), "items": len(tensors)},
            edit=edits.append(node_site(frame.file, appended.args[0]), plain),
            fix=f"keep the {'number' if scalar else 'values'} only: {said(appended.func)}({one}{plain})",
            related=[(crash.site, "NumPy reads it here")],
        )
    return None


def _appended(file: str, name: str) -> ast.Call | None:
    """The `name.append(x)` of a file; for `history.train` that of `self.train` too."""
    own = f"self.{name.rpartition('.')[2]}"
    for node in ast.walk(tree_of(file) or ast.Module([], [])):
        function = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
        if isinstance(function, ast.Attribute) and function.attr == "append" and said(function.value) in (name, own):
            return node  # type: ignore[return-value]
    return None
