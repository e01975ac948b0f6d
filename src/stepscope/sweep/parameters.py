"""One parameter as a sweep file writes it, in our short form or with W&B's names of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stepscope.errors import ConfigError
from stepscope.sweep.domains import Bell, Beta, Choice, Domain, Range
from stepscope.sweep.fields import Fields, as_number


def domain_from(raw: Any, where: str) -> Domain:
    """What a parameter may be.

    >>> domain_from([16, 32], "width"), domain_from(5, "epochs")
    (Choice(values=(16, 32), weights=None), Choice(values=(5,), weights=None))
    >>> domain_from({"min": 0.001, "max": 0.1, "log": True}, "lr")
    Range(low=0.001, high=0.1, log=True, step=None, whole=False)
    """
    if isinstance(raw, list | tuple):
        return _choice(list(raw), None, where)
    if not isinstance(raw, dict):
        return Choice((raw,))
    fields = Fields(raw, where)
    kind = fields.text("distribution")
    if kind is not None:
        make = _DISTRIBUTIONS.get(kind)
        if make is None:
            raise fields.wrong("distribution", kind, f"one of {', '.join(_DISTRIBUTIONS)}")
        made = make(fields)
    elif "value" in fields:
        made = Choice((fields.take("value"),))
    elif "values" in fields:
        made = _categorical(fields)
    elif "mu" in fields or "sigma" in fields:
        made = _bell(fields)
    elif "min" in fields or "max" in fields:
        made = _range(fields)
    else:
        raise ConfigError(
            f"{where} says not what it may be; give a list of values ([16, 32]), `min` and `max`, or one value"
        )
    fields.done()
    return made


def _choice(values: list[Any], weights: Any, where: str) -> Choice:
    if not values:
        raise ConfigError(f"{where} has an empty list of values; give at least one")
    if weights is None:
        return Choice(tuple(values))
    numbers = [as_number(one) for one in weights] if isinstance(weights, list) else [None]
    good = [float(one) for one in numbers if one is not None and one >= 0]
    if len(good) != len(values) or len(numbers) != len(values) or sum(good) <= 0:
        raise ConfigError(f"{where}: probabilities {weights!r} must be {len(values)} numbers, one for each value")
    return Choice(tuple(values), tuple(good))


def _categorical(fields: Fields) -> Choice:
    values = fields.take("values")
    if not isinstance(values, list | tuple):
        raise fields.wrong("values", values, "a list, like [16, 32, 64]")
    return _choice(list(values), fields.take("probabilities"), fields.where)


def _ends(fields: Fields) -> tuple[int | float, int | float]:
    ends = []
    for name in ("min", "max"):
        value = fields.take(name)
        number = as_number(value)
        if number is None:
            raise fields.wrong(name, value, "a number")
        ends.append(number)
    if ends[0] > ends[1]:
        raise ConfigError(f"{fields.where}: min {ends[0]} is above max {ends[1]}; swap them")
    return ends[0], ends[1]


def _range(fields: Fields) -> Domain:
    """Our short form. Two whole ends mean whole numbers, as with W&B."""
    low, high = _ends(fields)
    log = fields.flag("log")
    step = fields.number("step", "q")
    whole = all(isinstance(one, int) for one in (low, high)) and (step is None or float(step).is_integer())
    return _ranged(fields, low, high, log=log, step=step, whole=fields.flag("int", default=whole))


def _ranged(
    fields: Fields, low: float, high: float, *, log: bool = False, step: float | None = None, whole: bool = False
) -> Domain:
    if log and low <= 0:
        raise ConfigError(f"{fields.where}: a logarithmic range must begin above 0, and min is {low}")
    if step is not None and step <= 0:
        raise ConfigError(f"{fields.where}: step is {step}; expected a number above 0")
    if whole and not (float(low).is_integer() and float(high).is_integer()):
        raise ConfigError(f"{fields.where}: min {low} and max {high} must be whole for a whole number")
    if low == high:
        return Choice((int(low) if whole else low,))
    return Range(low, high, log=log, step=step, whole=whole)


# -- W&B's names ------------------------------------------------------------------------------------------------------


def _uniform(log: bool = False, whole: bool = False, quantized: bool = False) -> Callable[[Fields], Domain]:
    """`uniform`, `int_uniform`, `log_uniform_values` and those with a q, whose values are multiples of it."""

    def make(fields: Fields) -> Domain:
        low, high = _ends(fields)
        if not quantized:
            return _ranged(fields, low, high, log=log, whole=whole)
        step = fields.number("q", "step", default=1.0) or 1.0
        low, high = (float(f"{round(end / step) * step:.12g}") for end in (low, high))
        # A logarithmic range of multiples begins at the first one above 0.
        low = step if log and low <= 0 else low
        return _ranged(fields, low, high, log=log, step=step, whole=float(step).is_integer())

    return make


def _exponents(sign: int, quantized: bool = False) -> Callable[[Fields], Domain]:
    """W&B's `log_uniform`: its ends are exponents of e. (`inv_`: of 1/e, the other way round.)"""

    def make(fields: Fields) -> Domain:
        first, second = _ends(fields)
        if max(abs(first), abs(second)) > 700 or 0 < 10 * first <= second <= 1:  # 1e-5 to 1e-1 are meant as values
            raise ConfigError(
                f"{fields.where}: with log_uniform min and max are exponents of e; "
                "for the values themselves write log_uniform_values"
            )
        low, high = sorted((math.exp(sign * first), math.exp(sign * second)))
        step = (fields.number("q", default=1.0) or 1.0) if quantized else None
        return _ranged(fields, low, high, log=True, step=step)

    return make


def _bell(fields: Fields, *, log: bool = False, quantized: bool = False) -> Bell:
    mean, deviation = fields.number("mu", default=0.0) or 0.0, fields.number("sigma", default=1.0) or 0.0
    if deviation <= 0:
        raise ConfigError(f"{fields.where}: sigma is {deviation}; expected a number above 0")
    step = fields.number("q", "step", default=1.0 if quantized else None)
    return Bell(mean, deviation, log=log, step=step)


def _beta(fields: Fields) -> Beta:
    a, b = fields.number("a", default=1.0) or 0.0, fields.number("b", default=1.0) or 0.0
    if a <= 0 or b <= 0:
        raise ConfigError(f"{fields.where}: a and b are {a} and {b}; expected numbers above 0")
    return Beta(a, b, fields.number("q"))


def _constant(fields: Fields) -> Choice:
    return Choice((fields.take("value"),))


_DISTRIBUTIONS: dict[str, Callable[[Fields], Domain]] = {
    "constant": _constant,
    "categorical": _categorical,
    "categorical_w_probabilities": _categorical,
    "uniform": _uniform(),
    "int_uniform": _uniform(whole=True),
    "q_uniform": _uniform(quantized=True),
    "log_uniform": _exponents(1),
    "log_uniform_values": _uniform(log=True),
    "q_log_uniform": _exponents(1, quantized=True),
    "q_log_uniform_values": _uniform(log=True, quantized=True),
    "inv_log_uniform": _exponents(-1),
    "inv_log_uniform_values": _uniform(log=True),
    "normal": _bell,
    "q_normal": lambda fields: _bell(fields, quantized=True),
    "log_normal": lambda fields: _bell(fields, log=True),
    "q_log_normal": lambda fields: _bell(fields, log=True, quantized=True),
    "beta": _beta,
    "q_beta": _beta,
}
