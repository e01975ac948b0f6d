"""Where formulas meet the names of ops."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar


class Work(NamedTuple):
    """What an op computes. A multiply-accumulate is two floating-point operations."""

    flops: int
    macs: int = 0
    backward: int | None = 0
    """The floating-point operations of its backward; None when there is no rule for it."""


class Called(NamedTuple):
    """One call of an op: its arguments as given and the tensors it returned."""

    name: str
    args: Sequence[Any]
    kwargs: dict[str, Any]
    outputs: Sequence[Any]

    def get(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by place or by name."""
        return self.args[place] if place < len(self.args) else self.kwargs.get(name, default)

    @property
    def first(self) -> Any:
        """The first argument, whatever its name: `input`, `self`, `query`, `tensors`."""
        if self.args:
            return self.args[0]
        return next(iter(self.kwargs.values()), None)

    @property
    def out(self) -> Any:
        return self.outputs[0]


Formula = Callable[[Called], "Work | None"]
F = TypeVar("F", bound=Formula)
_formulas: dict[str, Formula] = {}
_resolved: dict[str, Formula | None] = {}


def formula(*names: str) -> Callable[[F], F]:
    """Register a formula for the ops of these names; `add` serves `add_`, `_foreach_add` and `aten.add.Tensor` too."""

    def register(function: F) -> F:
        for name in names:
            _formulas[name] = function
        _resolved.clear()
        return function

    return register


def work_of(called: Called) -> Work | None:
    """What this call computes, or None when no formula knows the op."""
    name = called.name
    if name not in _resolved:
        _resolved[name] = _resolve(name)
    found = _resolved[name]
    work = None if found is None else found(called)
    return _of_complex(work) if work is not None and work.macs and called.out.is_complex() else work


def _of_complex(work: Work) -> Work:
    """A product of complex numbers is four of real ones."""
    return Work(4 * work.flops, 4 * work.macs, None if work.backward is None else 4 * work.backward)


def known_ops() -> list[str]:
    """The names of all ops with a formula."""
    _load()
    return sorted(_formulas)


@cache
def _load() -> None:
    package = import_module("stepscope.record.flops")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")


def _resolve(name: str) -> Formula | None:
    _load()
    if name.startswith("aten."):
        name = name.split(".")[1]
    if name in _formulas:
        return _formulas[name]
    if name.startswith("_foreach_"):
        return _each(name.removeprefix("_foreach_"))
    bare = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    return _formulas.get(bare)


def _each(name: str) -> Formula | None:
    """A `_foreach_` op does the same to each tensor of a list."""
    one = _resolve(name)
    if one is None:
        return None

    def each(called: Called) -> Work | None:
        flops = 0
        # The list is the first argument, but for ops such as `_foreach_pow(2.0, exponents)`.
        tensors = next((one for one in called.args if isinstance(one, list | tuple)), ())
        for tensor in tensors:
            work = one(Called(name, (tensor,), {}, (tensor,)))
            if work is None:
                return None
            flops += work.flops
        return Work(flops, 0, None)

    return each


def _needing(called: Called) -> int:
    """How many of the arguments a gradient flows to."""
    return sum(1 for value in (*called.args, *called.kwargs.values()) if getattr(value, "requires_grad", False))


def per_output(flops: int, *names: str) -> None:
    """Register ops that cost so much per element of their output, and as much again per gradient in backward."""

    def elementwise(called: Called) -> Work:
        work = flops * int(called.out.numel())
        return Work(work, 0, work * _needing(called))

    formula(*names)(elementwise)


def per_input(flops: int, *names: str) -> None:
    """Register ops that cost so much per element of their first argument."""

    def reduction(called: Called) -> Work:
        work = flops * int(called.first.numel())
        return Work(work, 0, work * _needing(called))

    formula(*names)(reduction)


def backward_of_products(macs: int, *operands: Any) -> int:
    """A product's backward is one more product of the same size for each operand that needs a gradient."""
    return 2 * macs * sum(1 for operand in operands if getattr(operand, "requires_grad", False))
