from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, ELEMENTWISE, REDUCTIONS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import reduces_all, source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import PARAMETER, Origin

_PAIRWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "gaussian_nll_loss", "kl_div")
_TWO_SIDED = frozenset({"sub", "rsub", "mul", "div", "add"})
_ELEMENTWISE = ELEMENTWISE | CASTS | REDUCTIONS | {"where", "cosh", "smooth_l1_loss", "huber_loss", "mse_loss"}


@rule("loss.broadcast", severity="error")
def broadcast(run: Evidence) -> Iterator[Proof]:
    """Predictions and targets of different shapes are broadcast: every prediction is compared with every target.

    Why it matters: a column of N predictions minus a row of N targets is an N x N table. Its mean is smallest when all
    predictions are the mean of the targets, so the model learns that and nothing else.

    What to do: bring both to one shape: `pred.squeeze(1)` or `y.unsqueeze(1)`.

    How it is found: the shapes of what a loss compares are seen at each call. Here the result is larger than both
    sides, one side comes from the model, the other does not, and the table is averaged into the loss.

    Bad:
        loss = F.mse_loss(model(x), y)             # (32, 1) and (32,)
    Good:
        loss = F.mse_loss(model(x).squeeze(1), y)  # (32,) and (32,)
    """
    for calls in run.losses.by_place(*_PAIRWISE):
        wrong = [call for call in calls if _grows(call.shapes.get("input"), call.shapes.get("target"))]
        if len(wrong) >= min(2, len(calls)) and (len(wrong) > 1 or run.over):
            call = wrong[0]
            yield _proof(call.place, call.shapes["input"], call.shapes["target"], len(wrong), call.name)
    seen = set()
    for backward in list(run.steps.backwards)[:40]:
        if backward.origin is None:
            continue
        for origin in _tables(backward.origin):
            if origin.place in seen or origin.place is None:
                continue
            seen.add(origin.place)
            first, second = origin.inputs[0].shape, origin.inputs[1].shape
            yield _proof(origin.place, first, second, 1, "this")


def _proof(where: object, first: tuple[int, ...], second: tuple[int, ...], times: int, name: str) -> Proof:
    table = _together(first, second)
    column = "first" if len(first) > len(second) else "second"
    return Proof(
        where=where,  # type: ignore[arg-type]
        message=f"{_shown(first)} and {_shown(second)} are broadcast to {_shown(table)}: "
        "every prediction is compared with every target",
        label=f"{_shown(first)} with {_shown(second)} makes {_shown(table)}",
        evidence={"shapes": [list(first), list(second)], "broadcast_to": list(table), "calls": times},
        edit=tensors.operand_appended(where, int(column == "second"), ".squeeze(-1)"),
        fix=f"make the shapes equal: .squeeze(-1) on the {column}, or .unsqueeze(-1) on the other",
    )


def _shown(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _together(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(first), len(second))
    wide = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    return tuple(max(sizes) for sizes in zip(*wide, strict=True))


def _grows(first: tuple[int, ...] | None, second: tuple[int, ...] | None) -> bool:
    """Both sides are repeated: the result has more numbers than either."""
    if not first or not second:
        return False
    table = _together(first, second)
    return _numbers(table) > max(_numbers(first), _numbers(second))


def _numbers(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _tables(loss: Origin) -> Iterator[Origin]:
    """Comparisons by hand on the way from the loss back, as long as all that follows is elementwise or a full mean."""
    for origin in loss.ancestors(300, through=_goes_on):
        if origin.op not in _TWO_SIDED or len(origin.inputs) != 2:
            continue
        first, second = origin.inputs
        accidental = _one_sided(first, second) and not any(_made_on_purpose(origin, side) for side in (first, second))
        if accidental and _is_column_and_row(first.shape, second.shape):
            yield origin


def _goes_on(origin: Origin) -> bool:
    if origin.op in ("mean", "sum"):
        return reduces_all(origin)
    return origin.op in _ELEMENTWISE


def _is_column_and_row(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    long, short = (first, second) if len(first) > len(second) else (second, first)
    return len(long) == 2 and len(short) == 1 and long[1] == 1 and long[0] == short[0] > 1


def _one_sided(first: Origin, second: Origin) -> bool:
    if first.requires_grad != second.requires_grad:
        return True
    return bool(first.tags & PARAMETER) != bool(second.tags & PARAMETER)


def _made_on_purpose(table: Origin, side: Origin) -> bool:
    """`a[:, None] - b` in one line says that a table is wanted."""
    made = side if side.op else source(side)
    if made.op not in ("getitem", "unsqueeze", "view", "reshape") or made.place is None or table.place is None:
        return False
    if made.op in ("view", "reshape", "getitem") and len(made.shape) < 2:
        return False
    return made.place.is_beside(table.place) and made.place.line == table.place.line
