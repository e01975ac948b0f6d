"""The filters and orders of `wandb.Api().runs`: MongoDB's query syntax, evaluated on a run's fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stepscope.wandb.errors import UsageError

Look = Callable[[str], Any]
"""The value of a field such as `config.lr`, or None."""


def fits(look: Look, wanted: Mapping[str, Any]) -> bool:
    """Whether a run matches a filter.

    >>> fits({"config.lr": 0.1, "state": "finished"}.get, {"config.lr": {"$lt": 1}, "state": "finished"})
    True
    """
    return all(_meets(look, name, asked) for name, asked in wanted.items())


def _meets(look: Look, name: str, asked: Any) -> bool:
    if name in ("$and", "$or", "$nor"):
        parts = [fits(look, part) for part in asked]
        return all(parts) if name == "$and" else any(parts) == (name == "$or")
    if name == "$not":
        return not fits(look, asked)
    value = look(name)
    if isinstance(asked, Mapping) and any(str(key).startswith("$") for key in asked):
        return all(_compare(value, str(operator), operand, asked) for operator, operand in asked.items())
    return _equal(value, asked)


def _equal(value: Any, asked: Any) -> bool:
    return asked in value if isinstance(value, list | tuple) and not isinstance(asked, list) else bool(value == asked)


def _compare(value: Any, operator: str, operand: Any, asked: Mapping[str, Any]) -> bool:
    if operator == "$eq":
        return _equal(value, operand)
    if operator == "$ne":
        return not _equal(value, operand)
    if operator in ("$in", "$nin"):
        return any(_equal(value, each) for each in operand) == (operator == "$in")
    if operator == "$exists":
        return (value is not None) == bool(operand)
    if operator == "$not":
        return not all(_compare(value, str(name), each, operand) for name, each in operand.items())
    if operator == "$regex":
        return value is not None and re.search(str(operand), str(value)) is not None
    if operator == "$options":
        return True
    if operator not in _ORDERS:
        known = ", ".join([*_ORDERS, "$eq", "$ne", "$in", "$nin", "$regex", "$exists", "$and", "$or", "$not"])
        raise UsageError(f"filter {dict(asked)!r}: operator {operator!r} is unknown; use {known}")
    try:
        return value is not None and bool(_ORDERS[operator](value, operand))
    except TypeError:  # a number beside a word: neither is smaller
        return False


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
}


def order_key(order: str) -> tuple[str, bool]:
    """A field to sort by, and whether descending: `+created_at`, `-summary_metrics.loss`."""
    return order.lstrip("+-"), order.startswith("-")
