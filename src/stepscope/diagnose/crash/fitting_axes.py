"""How a tensor with fewer axes has to be indexed so that it broadcasts against one with more."""

from __future__ import annotations

from itertools import combinations

Shape = tuple[int, ...]
ELEMENTWISE = frozenset(
    {
        *("add", "sub", "mul", "div", "pow", "compare", "and", "or", "eq", "ne", "gt", "lt", "ge", "le", "where"),
        *("maximum", "minimum", "masked_fill", "true_divide", "floor_divide", "remainder", "lerp", "addcmul"),
    }
)


def is_elementwise(op: str) -> bool:
    """Whether an operation matches its operands axis by axis, from the last one on.

    >>> [is_elementwise(op) for op in ("masked_fill_", "matmul")]
    [True, False]
    """
    return op.strip("_").removeprefix("r") in ELEMENTWISE or op.strip("_") in ELEMENTWISE


def index_for(less: Shape, more: Shape) -> str:
    """The index that puts axes of size 1 where the other tensor has more; "" where that is not decided.

    >>> index_for((32,), (32, 10)), index_for((6, 10), (6, 4, 10, 10)), index_for((3,), (8, 3))
    ('[:, None]', '[:, None, None, :]', '')
    """
    count = len(more)
    if not 0 < len(less) < count or _broadcasts(less, more):
        return ""
    fits = [places for places in combinations(range(count), len(less)) if _match(less, more, places)]
    if len(fits) > 1:  # the keys of attention are on the last axis, its queries, which are as many, before them
        fits = [places for places in fits if places[-1] == count - 1]
    if len(fits) != 1:
        return ""
    signs = [":" if at in fits[0] else "None" for at in range(count)]
    return f"[{', '.join(signs[fits[0][0] :])}]"


def _broadcasts(less: Shape, more: Shape) -> bool:
    return all(size in (1, other) for size, other in zip(less[::-1], more[::-1], strict=False))


def _match(less: Shape, more: Shape, places: tuple[int, ...]) -> bool:
    return all(size == more[at] and size != 1 for size, at in zip(less, places, strict=True))


def met_from_the_right(first: Shape, second: Shape) -> tuple[int, int] | None:
    """The two sizes that meet and differ, counted from the last axis.

    >>> met_from_the_right((6, 4, 10, 10), (6, 10))
    (10, 6)
    """
    pairs = zip(first[::-1], second[::-1], strict=False)
    return next(((a, b) for a, b in pairs if a != b and 1 not in (a, b)), None)
