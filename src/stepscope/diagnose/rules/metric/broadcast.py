from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.broadcasts import Broadcast
from stepscope.evidence.origins import OUTPUT, PARAMETER, Origin

_LEARNED = OUTPUT | PARAMETER


@rule("metric.broadcast", severity="warning", follows=("loss.broadcast",))
def broadcast(run: Evidence) -> Iterator[Proof]:
    """A metric compares every prediction with every target, because one is a column and the other a row.

    Why it matters: (N, 1) predictions against (N,) targets make an N x N table. Its mean is neither an accuracy nor an
    error. It hardly changes however well the model does, and model selection goes by it.

    What to do: bring both to one shape: `pred.squeeze(1)` or `y.unsqueeze(1)`.

    How it is found: outside of the loss, the user's own code compares a result of the model of shape (N, 1) with values
    of shape (N,) that no model made, and sums up or averages the whole table.

    Bad:
        accuracy = ((model(x) > 0) == y).float().mean()             # (32, 1) and (32,)
    Good:
        accuracy = ((model(x).squeeze(1) > 0) == y).float().mean()  # (32,) and (32,)
    """
    for found in run.broadcasts.all:
        if found.kind != "table" or not found.reduced or not _is_of_model(found):
            continue
        first, second = found.first, found.second
        if _is_on_purpose(found, first) or _is_on_purpose(found, second):
            continue
        rows = max(first.shape[0], second.shape[0])
        yield Proof(
            where=found.place,
            message=f"{_shown(first)} and {_shown(second)} are broadcast to ({rows}, {rows}): every prediction is "
            "compared with every target",
            label=f"{_shown(first)} with {_shown(second)} makes ({rows}, {rows})",
            evidence={"shapes": [list(first.shape), list(second.shape)], "calls": found.count},
            fix="make the shapes equal: .squeeze(-1) on the column, or .unsqueeze(-1) on the row",
        )


def _is_of_model(found: Broadcast) -> bool:
    return bool(found.first.tags & _LEARNED) != bool(found.second.tags & _LEARNED)


def _is_on_purpose(found: Broadcast, side: Origin) -> bool:
    """`a[:, None] == b` in one line says that a table is wanted."""
    if side.op not in ("getitem", "unsqueeze", "view", "reshape") or len(side.shape) < 2 or side.place is None:
        return False
    return side.place.is_beside(found.place) and side.place.line == found.place.line


def _shown(origin: Origin) -> str:
    return f"({', '.join(map(str, origin.shape))}{',' if len(origin.shape) == 1 else ''})"
