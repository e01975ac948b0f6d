"""Which rule an op that made NaN or Inf belongs to, by the op and what it read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.records.step import Stats


@dataclass(frozen=True)
class Kind:
    """How numbers broke."""

    rule: str
    what: str
    """What happened, to be read after "the line ...": `log of 0 is -inf`."""
    fix: str


UNKNOWN = Kind("num.nan-loss-continues", "", "")

_HUGE = 1e15

_LOGS = frozenset({"log", "log2", "log10", "log1p", "logit", "xlogy"})
_DIVISIONS = frozenset({"div", "true_divide", "divide", "reciprocal", "reciprocal_mul", "normalize"})
_EXPONENTIALS = frozenset({"exp", "exp2", "expm1", "sinh", "cosh"})
_DOMAINS = {
    "acos": "[-1, 1]", "asin": "[-1, 1]", "arccos": "[-1, 1]", "arcsin": "[-1, 1]", "atanh": "(-1, 1)",
    "acosh": "[1, inf)", "erfinv": "(-1, 1)",
}  # fmt: skip
_SAFE_LOG = "keep the argument above zero: log(x.clamp_min(1e-8)), log(x + eps), xlogy, or log_softmax/logsigmoid"
_SAFE_SQRT = "keep the argument away from zero: torch.sqrt(x + 1e-8) or x.clamp_min(1e-8).sqrt()"
_SAFE_DIV = "keep the divisor away from zero: x / (std + 1e-8), x / n.clamp_min(1)"
_SAFE_EXP = "bound the argument (x.clamp(max=...)), or use the stable form: logsumexp, softplus, cross_entropy, softmax"


def kind_of(op: str, how: str, reads: Sequence[Stats | None], made: Stats | None, arguments: dict[str, Any]) -> Kind:
    """The kind of a birth: `how` is "value" (the result is not finite) or "slope" (its derivative is not)."""
    name = op.rstrip("_")
    if how == "slope":
        return kind_when_steep(name)
    first = reads[0] if reads else None
    low = None if first is None else first.min
    high = None if first is None else first.max
    if name in _LOGS:
        return _log(name, low, high)
    if name in _DOMAINS:
        fix = f"clamp the argument into {_DOMAINS[name]}, a little inside its ends: x.clamp(-1 + 1e-6, 1 - 1e-6)"
        return Kind(
            "num.sqrt-negative", f"{name} of values from {_n(low)} to {_n(high)} is NaN outside its domain", fix
        )
    if name in ("sqrt", "rsqrt"):
        if low is not None and low < 0:
            return _negative(name, low)
        return Kind("num.div-zero-std", f"{name} of 0 is infinite", _SAFE_DIV)
    if name in ("pow", "float_power"):
        return _power(first, made, arguments)
    if name in _DIVISIONS:
        return _division(name, reads)
    if name in _EXPONENTIALS:
        return Kind("num.exp-overflow", f"{name} of {_n(high)} overflows to inf", _SAFE_EXP)
    return _rest(name, first)


def _log(name: str, low: float | None, high: float | None) -> Kind:
    if low is not None and low < 0 and name not in ("log1p", "logit"):
        return _negative(name, low)
    if name == "log1p" and low is not None and low < -1:
        return _negative(name, low)
    if name == "logit":
        return Kind("num.log-zero", f"logit of values from {_n(low)} to {_n(high)} is infinite at 0 and 1", _SAFE_LOG)
    return Kind("num.log-zero", f"{name} of {_n(low if name == 'log1p' else 0.0)} is -inf", _SAFE_LOG)


def _negative(name: str, low: float) -> Kind:
    fix = f"keep the argument of {name} at or above zero (x.clamp_min(1e-8)), or find out why it is negative"
    return Kind("num.sqrt-negative", f"{name} of {_n(low)} is NaN", fix)


def _power(first: Stats | None, made: Stats | None, arguments: dict[str, Any]) -> Kind:
    exponent = arguments.get("exponent", arguments.get("arg1"))
    if first is not None and first.min is not None:
        if first.min < 0 and made is not None and made.nan:
            shown = f" to the power {_n(exponent)}" if isinstance(exponent, (int, float)) else " to a broken power"
            fix = "keep the base at or above zero (x.clamp_min(1e-8)), or find out why it is negative"
            return Kind("num.sqrt-negative", f"{_n(first.min)}{shown} is NaN", fix)
        if isinstance(exponent, (int, float)) and exponent < 0 and first.zeros:
            return Kind("num.div-zero-std", f"0 to the power {_n(exponent)} is infinite", _SAFE_DIV)
    return _grown(f"a power of {_n(None if first is None else first.max)} overflows to inf")


def _division(name: str, reads: Sequence[Stats | None]) -> Kind:
    divisor = reads[-1] if reads else None
    if divisor is not None and not divisor.zeros and divisor.min is not None and name != "normalize":
        least = min(abs(divisor.min), abs(divisor.max or 0.0))
        if least >= 1:  # no division makes a number larger then: it was too large before
            return _grown("a value that has overflowed is divided")
        return Kind("num.div-zero-std", f"dividing by values down to {_n(least)} overflows", _SAFE_DIV)
    zeros = f"{divisor.zeros:,} of {divisor.numel:,} divisors are" if divisor is not None and divisor.numel > 1 else ""
    return Kind("num.div-zero-std", f"{zeros or 'the divisor is'} 0", _SAFE_DIV)


def _rest(name: str, first: Stats | None) -> Kind:
    empty = first is None or first.numel == 0
    if name in ("std", "var", "std_mean", "var_mean"):
        fix = "pass correction=0 (unbiased=False), or leave it out where there is one value only"
        return Kind("num.div-zero-std", f"{name} over a single value divides by n - 1 = 0", fix)
    if name in ("mean", "nanmean") and empty:
        fix = "skip the batch when nothing is selected, or divide the sum by count.clamp_min(1)"
        return Kind("num.nan-loss-continues", "the mean of no values is NaN", fix)
    if name in ("mse_loss", "l1_loss", "smooth_l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy") and (
        empty or name in ("cross_entropy", "nll_loss")
    ):
        fix = "skip the batch when it has no valid target, or use reduction='sum' and divide by count.clamp_min(1)"
        return Kind("num.nan-loss-continues", f"{name} over no valid target is NaN (0 / 0)", fix)
    if name in ("softmax", "log_softmax"):
        fix = "leave at least one position of every row unmasked, or replace such rows after the softmax"
        return Kind("num.nan-loss-continues", f"{name} of a row that is -inf everywhere is NaN", fix)
    if first is not None and first.max is not None and max(first.max, -(first.min or 0.0)) > _HUGE:
        return _grown(f"{name} overflows: it reads values up to {_n(max(first.max, -(first.min or 0.0)))}")
    return Kind("num.nan-loss-continues", f"{name} is where it first appears", "")


def _grown(what: str) -> Kind:
    return Kind("num.nan-loss-continues", what, "the values have grown step by step: lower the learning rate or clip")


def kind_when_steep(op: str) -> Kind:
    """Of an op whose derivative is infinite where it was evaluated."""
    name = op.rstrip("_")
    if name in _DOMAINS:
        fix = "clamp the argument a little inside (-1, 1): x.clamp(-1 + 1e-6, 1 - 1e-6)"
        return Kind("num.sqrt-zero", f"{name} has an infinite slope at -1 and 1", fix)
    what = "the square root of 0" if name == "sqrt" else "a fractional power of 0"
    return Kind("num.sqrt-zero", f"{what} has an infinite slope", _SAFE_SQRT)


_WARNED = (
    (r"divide by zero encountered in (log\w*)", "num.log-zero", "numpy's {0} of 0 is -inf", _SAFE_LOG),
    (r"(?:divide by zero|invalid value) encountered in (?:\w*divide|\w*scalar_divide|reciprocal)", "num.div-zero-std",
     "numpy divides by 0", _SAFE_DIV),
    (r"invalid value encountered in (sqrt|log\w*|power|arc\w+)", "num.sqrt-negative",
     "numpy's {0} of a value outside its domain is NaN", "keep the argument inside the domain (np.clip)"),
    (r"overflow encountered in (exp\w*|power|square|\w*cosh|sinh)", "num.exp-overflow", "numpy's {0} overflows to inf",
     _SAFE_EXP),
    (r"(Mean of empty slice)", "num.nan-loss-continues", "the mean of no values is NaN", "leave out empty groups"),
    (r"(Degrees of freedom <= 0)", "num.div-zero-std", "a standard deviation over one value is NaN", _SAFE_DIV),
)  # fmt: skip


def kind_of_warning(text: str) -> Kind | None:
    """The kind that a warning of numpy tells of.

    >>> kind_of_warning("divide by zero encountered in log").rule
    'num.log-zero'
    """
    for pattern, rule, what, fix in _WARNED:
        found = re.search(pattern, text)
        if found is not None:
            return Kind(rule, what.format(*found.groups()), fix)
    return None


def _n(value: float | None) -> str:
    return "?" if value is None else f"{value:.4g}"
