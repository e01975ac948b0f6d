from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import parents_of, said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldItems, HeldTensor

_COMBINED = {ast.And: "&", ast.Or: "|"}


@rule("api.tensor-condition", severity="error", needs="crash")
def tensor_condition(run: Evidence) -> Iterator[Proof]:
    """A tensor of several values is used where one True or False is needed.

    Why it matters: `if`, `and`, `or`, `not` and `in` ask for one answer, and a comparison of tensors gives one for each
    value.

    What to do: count hits with `(pred == y).sum().item()`, choose values with `torch.where`, combine masks with `&`,
    `|` and `~`, and ask for `.any()` or `.all()` where one answer for all is meant.

    Bad:
        if pred == y:
            correct += 1
    Good:
        correct += (pred == y).sum().item()
    """
    crash = run.crash
    frame = None if crash is None else crash.last
    if crash is None or frame is None or not crash.says(r"boolean value of tensor with more than one value"):
        return
    if frame is not crash.frames[-1]:  # torch asks: a tensor was given where a setting is expected
        yield from _loss_class(frame)
        return
    found = _holder(frame)
    if found is None:
        return
    holder, test = found
    counted = _counted(holder, test)
    plan, fix = None, ""
    if counted is not None:
        target, step = counted
        text = f"{target} += ({said(test, 200)}).sum().item()"
        fix = f"count the hits of the whole batch: {text}"
        if isinstance(holder, ast.If) and step:
            plan = edits.replace(node_site(frame.file, holder), text)
    yield Proof(
        where=node_site(frame.file, test),
        message=f"`{said(test)}` is a tensor with one answer for each value, and {_asks(holder)} needs a single one",
        label="several True and False",
        evidence={"condition": said(test)},
        edit=plan,
        fix=fix or _fix(holder, test, frame),
    )


def _loss_class(frame: Frame) -> Iterator[Proof]:
    """`nn.MSELoss(output, target)`: a class of loss is given what its object takes."""
    call = frame.running
    name = said(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or not name.endswith("Loss") or len(call.args) < 2:
        return
    text = f"{name}()({', '.join(ast.unparse(one) for one in call.args)})"
    yield Proof(
        where=node_site(frame.file, call),
        message=f"`{name}` is a class: its parentheses take settings, and the tensors go to the object it makes",
        label="tensors, where settings are expected",
        evidence={"class": name},
        edit=edits.replace(node_site(frame.file, call), text),
        fix=f"make the loss first, then call it: {text}",
    )


def _holder(frame: Frame) -> tuple[ast.AST, ast.expr] | None:
    """What asks for a truth value on the failing line, and the expression it asks."""
    parents = parents_of(frame.file)
    node = frame.running
    if isinstance(node, ast.stmt):
        test = getattr(node, "test", None)
        return None if test is None else (node, test)
    here = node
    while here is not None and not isinstance(here, ast.stmt):
        above = parents.get(here)
        if isinstance(above, (ast.BoolOp, ast.UnaryOp)) or here is getattr(above, "test", None):
            return (above, here) if above is not None and isinstance(here, ast.expr) else None
        if isinstance(here, ast.BoolOp) or (isinstance(here, ast.UnaryOp) and isinstance(here.op, ast.Not)):
            return here, here
        if isinstance(here, ast.Compare) and any(isinstance(op, (ast.In, ast.NotIn)) for op in here.ops):
            return here, here
        here = above
    return None


def _asks(holder: ast.AST) -> str:
    if isinstance(holder, ast.BoolOp):
        return "`and`" if isinstance(holder.op, ast.And) else "`or`"
    if isinstance(holder, ast.UnaryOp):
        return "`not`"
    if isinstance(holder, ast.Compare):
        return "`in`"
    words = {ast.While: "`while`", ast.Assert: "`assert`"}
    return words.get(type(holder), "`if`")


def _counted(holder: ast.AST, test: ast.expr) -> tuple[str, bool] | None:
    """`if a == b: n += 1`, or `n += 1 if a == b else 0`: what is counted, and whether that is all the `if` does."""
    if not isinstance(test, ast.Compare):
        return None
    if isinstance(holder, ast.If):
        for one in holder.body:
            if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and _is_one(one.value):
                return said(one.target), len(holder.body) == 1 and not holder.orelse
    return None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _fix(holder: ast.AST, test: ast.expr, frame: Frame) -> str:
    text = f"({said(test, 200)})"
    if isinstance(holder, ast.IfExp) and _is_one(holder.body):
        return f"count the hits of the whole batch: {text}.sum().item()"
    if isinstance(holder, ast.IfExp):
        return f"choose value by value: torch.where({said(test)}, {said(holder.body)}, {said(holder.orelse)})"
    if isinstance(holder, ast.BoolOp):
        return (
            "combine masks with " + " & ".join(f"({said(one)})" for one in holder.values)
            if isinstance(holder.op, ast.And)
            else "combine masks with " + " | ".join(f"({said(one)})" for one in holder.values)
        )
    if isinstance(holder, ast.UnaryOp):
        return f"invert a mask with ~: ~{said(test)}"
    if isinstance(holder, ast.Compare):
        return _in_list(holder, frame)
    if isinstance(test, ast.Name):
        return f"write what you mean: `{test.id} is not None`, `len({test.id})`, or .any() or .all()"
    return f"write what you mean: {text}.all() or {text}.any(); to choose value by value, torch.where"


def _in_list(node: ast.Compare, frame: Frame) -> str:
    value = frame.value_of(node.comparators[-1])
    if isinstance(value, (HeldItems, HeldTensor)) or value is not MISSING:
        return "compare identities, any(x is one for one in items), or values with torch.isin"
    return "use torch.isin"
