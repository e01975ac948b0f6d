from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import CASTS, JOINS, VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted
from stepscope.evidence.origins import DATA, HOST, NOISE, Origin
from stepscope.evidence.precision_loss import Truncation


@rule("num.int-division", severity="warning", needs="steps, end")
def int_division(run: Evidence) -> Iterator[Proof]:
    """Fractions are lost: an integer division or a cast to integers, where the values are used as real numbers.

    Why it matters: `t // 1000` of times below 1000 is 0 for all of them, and targets cast to integers are the wrong
    targets. Nothing crashes; the model learns from constants or from rounded values.

    What to do: divide with `/`, and keep real numbers in a float type.

    How it is found: the values of every `//` of integers that reached the loss as floats were 0; or a cast threw away
    fractions worth more than a tenth of the values' spread and the result went on as floats to the loss; or a
    learning-rate function with `//` gave 0, again and again, and nothing between 0 and its full value.

    Bad:
        t = torch.randint(0, 1000, (n,)) // 1000
    Good:
        t = torch.randint(0, 1000, (n,)) / 1000
    """
    yield from _in_loss(run)
    yield from _in_schedule(run)
    if run.over:
        yield from _in_constructor(run)


def _in_loss(run: Evidence) -> Iterator[Proof]:
    if not run.precision_loss.cuts:
        return
    seen: set[int] = set()
    for backward in list(run.steps.backwards)[:20]:
        for origin in backward.origin.ancestors(5000) if backward.origin is not None else ():
            if id(origin) in seen or not origin.is_floating:
                continue
            seen.add(id(origin))
            for source in origin.inputs:
                cut = _cut_behind(source)
                if cut is not None and cut.kind == "floor" and not _is_index(origin):
                    yield _floored(cut)
                elif cut is not None and cut.kind == "cast" and origin.op in _BACK and _matters(cut, source):
                    yield _truncated(cut)


_BACK = frozenset({"float", "to", "double", "half", "type", "type_as", "sub", "rsub", "mul", "add", "div", "mse_loss",
                   "l1_loss", "smooth_l1_loss", "huber_loss"})  # fmt: skip


_UNCHANGED = VIEWS | JOINS | {""}


def _cut_behind(origin: Origin) -> Truncation | None:
    """The loss of fractions that this integer tensor is a view or a batch of."""
    for _ in range(12):
        if isinstance(origin.spot, Truncation):
            return origin.spot
        if origin.is_floating or origin.op not in _UNCHANGED or not origin.inputs:
            return None
        origin = origin.inputs[0]
    return None


def _is_index(origin: Origin) -> bool:
    return origin.op in ("getitem", "embedding", "gather", "index_select", "take", "take_along_dim", "scatter",
                         "embedding_bag", "one_hot", "cross_entropy", "nll_loss", "where", "setitem_")  # fmt: skip


def _matters(cut: Truncation, origin: Origin) -> bool:
    return bool(origin.tags & (DATA | HOST)) and not origin.tags & NOISE and cut.lost > 0.1 * cut.spread > 0


def _floored(cut: Truncation) -> Proof:
    return Proof(
        where=cut.place,
        message="this integer division gives 0 for every value, and the zeros are used as floats",
        label="all results are 0",
        evidence={"op": cut.op},
        edit=tensors.true_division(cut.place),
        fix="divide with / instead of //",
    )


def _truncated(cut: Truncation) -> Proof:
    return Proof(
        where=cut.place,
        message=f"this cast to integers throws away fractions (on average {cut.lost:.2g} of values that differ by "
        f"{cut.spread:.2g}), and the result is used as floats",
        label=f"{cut.kinds} different values are left",
        evidence={"mean_lost": cut.lost, "std_before": cut.spread, "values_left": cut.kinds, "op": cut.op},
        fix="keep these values in a float type: .float() instead of the cast to integers",
    )


def _in_schedule(run: Evidence) -> Iterator[Proof]:
    """A factor like `step // warmup`: 0 until it is 1."""
    for made in run.optimizers.made:
        rates = [step.lr for step in run.steps.of_optimizer(made.number) if step.lr is not None]
        zeros = sum(rate == 0 for rate in rates)
        if zeros < 3 or rates[0] != 0 or len(set(rates)) > 2:
            continue
        for file in run.source.files():
            for node in file.walk(ast.BinOp):
                if isinstance(node.op, ast.FloorDiv) and _makes_a_rate(file, node):
                    yield Proof(
                        where=file.site(node),
                        message=f"the learning rate was 0 for {zeros} steps: this integer division gives 0 until it "
                        "gives 1",
                        label=f"lr 0 in {zeros} of {len(rates)} steps",
                        evidence={"lr": rates[:20]},
                        edit=tensors.true_division((file, node)),
                        fix=f"divide with /: {ast.unparse(node.left)} / {ast.unparse(node.right)}",
                    )


def _makes_a_rate(file: SourceFile, node: ast.BinOp) -> bool:
    """Whether it stands in a function (or lambda) that is given to LambdaLR, or in a line that sets `lr`."""
    statement = file.enclosing(node, ast.Assign)
    if statement is not None and "lr" in ast.unparse(statement.targets[0]):
        return True
    around = [outer for outer in file.up(node) if isinstance(outer, (ast.Lambda, ast.FunctionDef))]
    names = {outer.name if isinstance(outer, ast.FunctionDef) else _assigned_name(file, outer) for outer in around}
    for call in file.calls("LambdaLR", "MultiplicativeLR"):
        given = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "lr_lambda")]
        for part in (part for value in given for part in ast.walk(value)):
            if part in around or dotted(part).rpartition(".")[2] in names:
                return True
    return False


def _assigned_name(file: SourceFile, node: ast.AST) -> str:
    statement = file.enclosing(node, ast.Assign)
    return ast.unparse(statement.targets[0]) if statement is not None else "no name"


# Casts that only the source shows: a tensor made of integers, out of a quotient


def _in_constructor(run: Evidence) -> Iterator[Proof]:
    if not _has_integer_target(run):
        return
    for file in run.source.files():
        for call in file.walk(ast.Call):
            value = _cast_value(call)
            if value is not None and _is_quotient(file, value):
                yield Proof(
                    where=file.site(call),
                    message=f"{ast.unparse(value)} is a quotient, and becomes integers here: its fractions are lost "
                    "before the loss uses it as floats",
                    label="integers, converted from floats",
                    evidence={"expression": ast.unparse(call)[:120]},
                    edit=tensors.called_otherwise(
                        (file, call),
                        {"LongTensor": "FloatTensor", "IntTensor": "FloatTensor", "long": "float", "int": "float"},
                    ),
                    fix="make a float tensor: torch.tensor(..., dtype=torch.float32)",
                )


_REGRESSIONS = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})


def _has_integer_target(run: Evidence) -> bool:
    """Whether a loss for real numbers has read integers that were made floats only just before."""
    for backward in list(run.steps.backwards)[:3]:
        for origin in backward.origin.ancestors(500) if backward.origin is not None else ():
            if origin.op in _REGRESSIONS and len(origin.inputs) > 1:
                target = origin.inputs[1].back_through((VIEWS - CASTS) | JOINS)
                cast = target.op in ("float", "to", "double") and bool(target.inputs)
                if cast and not target.inputs[0].is_floating:
                    return True
    return False


def _cast_value(call: ast.Call) -> ast.expr | None:
    """What a call turns into integers."""
    name = called_name(call)
    if name in ("LongTensor", "IntTensor") and len(call.args) == 1:
        return call.args[0]
    if name == "astype" and isinstance(call.func, ast.Attribute) and call.args and "int" in ast.unparse(call.args[0]):
        return call.func.value
    whole = any(k.arg == "dtype" and re.search(r"\b(long|int\d*)$", ast.unparse(k.value)) for k in call.keywords)
    return call.args[0] if name in ("tensor", "as_tensor", "array", "asarray") and call.args and whole else None


def _is_quotient(file: SourceFile, value: ast.expr) -> bool:
    if isinstance(value, ast.Name):
        earlier = [
            node.value
            for node in file.walk(ast.Assign)
            if node.lineno < value.lineno and any(isinstance(t, ast.Name) and t.id == value.id for t in node.targets)
        ]
        return bool(earlier) and isinstance(earlier[-1], ast.BinOp) and isinstance(earlier[-1].op, ast.Div)
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)
