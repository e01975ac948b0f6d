"""The op and what it read decide which rule speaks."""

from __future__ import annotations

import pytest

from stepscope.diagnose.nonfinite_kinds import kind_of, kind_of_warning
from stepscope.records.step import Stats


def stats(low: float, high: float, zeros: int = 0, numel: int = 8) -> Stats:
    return Stats(numel=numel, min=low, max=high, zeros=zeros)


@pytest.mark.parametrize(
    ("op", "read", "rule"),
    [
        ("log", stats(0, 1, zeros=1), "num.log-zero"),
        ("log", stats(-1, 1), "num.sqrt-negative"),
        ("sqrt", stats(-1, 1), "num.sqrt-negative"),
        ("rsqrt", stats(0, 1, zeros=1), "num.div-zero-std"),
        ("acos", stats(-1, 1.2), "num.sqrt-negative"),
        ("exp_", stats(0, 100), "num.exp-overflow"),
        ("div", stats(0, 1, zeros=2), "num.div-zero-std"),
        ("std", stats(1, 1, numel=1), "num.div-zero-std"),
        ("mean", Stats(numel=0), "num.nan-loss-continues"),
        ("linear", stats(-1e30, 1e30), "num.nan-loss-continues"),
    ],
)
def test_an_op_belongs_to_a_rule(op: str, read: Stats, rule: str) -> None:
    assert kind_of(op, "value", [read], Stats(numel=8, nan=1), {}).rule == rule


def test_a_steep_slope_is_told_apart_from_a_bad_value() -> None:
    assert kind_of("sqrt", "slope", [stats(0, 1, zeros=1)], None, {}).rule == "num.sqrt-zero"
    assert kind_of("pow", "value", [stats(-2, 1)], Stats(numel=8, nan=1), {"exponent": 0.5}).rule == "num.sqrt-negative"
    assert kind_of("pow", "value", [stats(0, 1, zeros=1)], None, {"exponent": -1}).rule == "num.div-zero-std"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("divide by zero encountered in log", "num.log-zero"),
        ("invalid value encountered in divide", "num.div-zero-std"),
        ("invalid value encountered in sqrt", "num.sqrt-negative"),
        ("overflow encountered in exp", "num.exp-overflow"),
    ],
)
def test_a_warning_of_numpy_belongs_to_a_rule(text: str, rule: str) -> None:
    kind = kind_of_warning(text)
    assert kind is not None
    assert kind.rule == rule


def test_other_warnings_say_nothing() -> None:
    assert kind_of_warning("this function is deprecated") is None
