from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_STEPS = 3
_FAR = 2000


@rule("data.negative-range", severity="error")
def negative_range(run: Evidence) -> Iterator[Proof]:
    """Random ids are drawn up to the size of another table than the one they are looked up in.

    Why it matters: negatives for items that are drawn from the number of users never touch most of the items, so
    those are never pushed down, and the ranking prefers them.

    What to do: draw up to the number of rows of the table the ids are for.

    How it is found: ids from `torch.randint` with an upper end that is the size of another embedding are looked up in
    a larger one, which other ids of the same steps use as well.

    Bad:
        negatives = torch.randint(0, n_users, (batch,))
        score = model.item(negatives)
    Good:
        negatives = torch.randint(0, n_items, (batch,))
    """
    found: dict[tuple[Place | None, int, int], list[Origin]] = {}
    sizes: set[int] = set()
    others: set[int] = set()
    for backward in list(run.steps.backwards)[: 4 * _STEPS]:
        for origin in backward.origin.ancestors(_FAR) if backward.origin is not None else ():
            if origin.op != "embedding" or len(origin.inputs) < 2 or not origin.inputs[1].shape:
                continue
            drawn, rows = source(origin.inputs[0]), origin.inputs[1].shape[0]
            sizes.add(rows)
            high = _high(drawn)
            if high is None:
                others.add(rows)
            elif high < rows:
                found.setdefault((drawn.place, high, rows), []).append(drawn)
    for (place, high, rows), several in found.items():
        if place is None or high not in sizes or rows not in others or len({id(one) for one in several}) < _STEPS:
            continue
        yield Proof(
            where=place,
            message=f"these ids are drawn below {high:,}, the size of another table; the table they are looked up in "
            f"has {rows:,} rows, so {rows - high:,} of them are never drawn",
            label=f"below {high:,}, of {rows:,}",
            evidence={"high": high, "rows": rows, "draws": len(several)},
            fix=f"draw below {rows:,}, the number of rows of that table",
        )


def _high(drawn: Origin) -> int | None:
    """The upper end of `torch.randint`."""
    if drawn.op != "randint":
        return None
    high = drawn.arguments.get("high")
    if high is None:
        numbers = [value for value in drawn.arguments.values() if isinstance(value, int)]
        high = max(numbers, default=None)
    return high if isinstance(high, int) and not isinstance(high, bool) else None
