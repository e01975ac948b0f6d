from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.record.watch.numbers import Cut
from stepscope.record.watch.origin import DATA, HOST, NOISE, Origin


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


def _in_loss(run: Evidence) -> Iterator[Proof]:
    if not run.numbers.cuts:
        return
    seen: set[int] = set()
    for backward in list(run.steps.backwards)[:20]:
        for origin in backward.origin.ancestors(5000) if backward.origin is not None else ():
            if id(origin) in seen or not origin.dtype.is_floating_point:
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
_MOVES = frozenset(
    {"getitem", "view", "reshape", "unsqueeze", "squeeze", "stack", "cat", "to", "expand", "flatten", ""}
)


def _cut_behind(origin: Origin) -> Cut | None:
    """The loss of fractions that this integer tensor is a view or a batch of."""
    for _ in range(12):
        if isinstance(origin.spot, Cut):
            return origin.spot
        if origin.dtype.is_floating_point or origin.op not in _MOVES or not origin.inputs:
            return None
        origin = origin.inputs[0]
    return None


def _is_index(origin: Origin) -> bool:
    return origin.op in ("getitem", "embedding", "gather", "index_select", "take", "take_along_dim", "scatter",
                         "embedding_bag", "one_hot", "cross_entropy", "nll_loss", "where", "setitem_")  # fmt: skip


def _matters(cut: Cut, origin: Origin) -> bool:
    return bool(origin.tags & (DATA | HOST)) and not origin.tags & NOISE and cut.lost > 0.1 * cut.spread > 0


def _floored(cut: Cut) -> Proof:
    return Proof(
        where=cut.place,
        message="this integer division gives 0 for every value, and the zeros go on as real numbers",
        label="all results are 0",
        evidence={"op": cut.op},
        fix="divide with / instead of //",
    )


def _truncated(cut: Cut) -> Proof:
    return Proof(
        where=cut.place,
        message=f"this cast to integers throws away fractions (on average {cut.lost:.2g} of values that differ by "
        f"{cut.spread:.2g}), and the result is used as real numbers",
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
                        fix=f"divide with /: {ast.unparse(node.left)} / {ast.unparse(node.right)}",
                    )


def _makes_a_rate(file: SourceFile, node: ast.BinOp) -> bool:
    """Whether it stands in a function (or lambda) that is given to LambdaLR, or in a line that sets `lr`."""
    around = file.enclosing(node, ast.Lambda, ast.FunctionDef)
    statement = file.enclosing(node, ast.Assign)
    if statement is not None and "lr" in ast.unparse(statement.targets[0]):
        return True
    for call in file.calls("LambdaLR", "MultiplicativeLR"):
        given = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "lr_lambda")]
        for value in given:
            inside = any(part is around for part in ast.walk(value))
            named = isinstance(around, ast.FunctionDef) and around.name in ast.unparse(value)
            assigned = isinstance(around, ast.Lambda) and _assigned_name(file, around) in ast.unparse(value)
            if inside or named or assigned:
                return True
    return False


def _assigned_name(file: SourceFile, node: ast.AST) -> str:
    statement = file.enclosing(node, ast.Assign)
    return ast.unparse(statement.targets[0]) if statement is not None else "no name"
