"""An `einsum` that failed: its letters beside the shapes, and the orders of letters that would fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from string import ascii_letters

from stepscope.common.syntax import said
from stepscope.diagnose.crash.crash import Crash

_MOST_LETTERS = 5


@dataclass(frozen=True)
class Equation:
    """`"bij,bjk->bik"` with what it was given."""

    inputs: tuple[str, ...]
    output: str | None
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        return ",".join(self.inputs) + ("" if self.output is None else f"->{self.output}")

    @property
    def miscounted(self) -> tuple[str, int, int] | None:
        """A tensor with another number of axes than letters: its name, its letters, its axes."""
        for letters, name, shape in zip(self.inputs, self.names, self.shapes, strict=True):
            if "." not in letters and len(letters) != len(shape):
                return name, len(letters), len(shape)
        return None

    def places(self) -> Iterator[tuple[str, str, int, int]]:
        """Every letter with the tensor, the axis and the size it stands for."""
        for letters, name, shape in zip(self.inputs, self.names, self.shapes, strict=True):
            for axis, letter in _axes(letters, len(shape)):
                yield letter, name, axis, shape[axis]


def _axes(letters: str, count: int) -> Iterator[tuple[int, str]]:
    before, dots, after = letters.partition("...")
    yield from enumerate(before)
    if dots:
        yield from ((count - len(after) + index, letter) for index, letter in enumerate(after))


def equation_of(crash: Crash) -> Equation | None:
    """The equation on the failing line, where it is written there as text, and all its tensors are known."""
    call = None if crash.last is None else crash.last.running
    if not isinstance(call, ast.Call) or not call.args or not said(call.func).endswith("einsum"):
        return None
    text = call.args[0]
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return None
    inputs, arrow, output = text.value.replace(" ", "").partition("->")
    letters = inputs.split(",")
    shapes = [tensor.shape for _, tensor in crash.operands]
    listed = call.args[1] if len(call.args) == 2 else None
    given = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else call.args[1:]
    if len(letters) != len(shapes) or len(given) != len(shapes):
        return None
    return Equation(tuple(letters), output if arrow else None, tuple(map(said, given)), tuple(shapes))


def clash(equation: Equation) -> tuple[str, list[tuple[str, int, int]]] | None:
    """The first letter with two sizes, and where it has which."""
    if equation.miscounted is not None:
        return None
    seen: dict[str, list[tuple[str, int, int]]] = {}
    for letter, name, axis, size in equation.places():
        seen.setdefault(letter, []).append((name, axis, size))
        others = [one for one in seen[letter] if one[2] != size and 1 not in (one[2], size)]
        if others:
            return letter, [others[0], (name, axis, size)]
    return None


def reordered(equation: Equation, crash: Crash) -> list[str]:
    """The equations with the letters of one tensor in another order that fit, those with the fewest moved first.

    Of several, those in which most letters have the size of the variable of that name: `h` that of `self.h`.
    """
    fitting: list[tuple[int, Equation]] = []
    for index, letters in enumerate(equation.inputs):
        if len(letters) > _MOST_LETTERS or "." in letters:
            continue
        for order in permutations(letters):
            changed = _with(equation, index, "".join(order))
            moved = sum(a != b for a, b in zip(order, letters, strict=True))
            if moved and clash(changed) is None:
                fitting.append((moved, changed))
    fewest = min((moved for moved, _ in fitting), default=0)
    best = [one for moved, one in fitting if moved == fewest]
    known = _numbers(crash)
    agreeing = [_agreeing(one, known) for one in best]
    return list(dict.fromkeys(one.text for one, n in zip(best, agreeing, strict=True) if n == max(agreeing)))


def extended(equation: Equation) -> list[str]:
    """For a tensor with more axes than letters: its first letter as `...`, where it is a batch."""
    wrong = next((i for i, letters in enumerate(equation.inputs) if len(letters) < len(equation.shapes[i])), None)
    if wrong is None or equation.output is None or "." in equation.text:
        return []
    first = equation.inputs[wrong][:1]
    elsewhere = any(first in letters for index, letters in enumerate(equation.inputs) if index != wrong)
    if not first or elsewhere or first not in equation.output:
        return []
    changed = _with(equation, wrong, "..." + equation.inputs[wrong][1:])
    changed = replace(changed, output=equation.output.replace(first, "..."))
    return [changed.text] if clash(changed) is None else []


def _with(equation: Equation, index: int, letters: str) -> Equation:
    inputs = [*equation.inputs[:index], letters, *equation.inputs[index + 1 :]]
    return replace(equation, inputs=tuple(inputs))


def _agreeing(equation: Equation, known: dict[str, int]) -> int:
    """How many letters have the size of the variable of their name."""
    return len({letter for letter, _, _, size in equation.places() if known.get(letter) == size})


def _numbers(crash: Crash) -> dict[str, int]:
    """The whole numbers of the failing frame that have a single letter for a name: `h`, `self.h`."""
    frame = crash.last
    if frame is None:
        return {}
    read = [(letter, f"{before}{letter}") for before in ("", "self.") for letter in ascii_letters]
    values = {letter: frame.value_of(ast.parse(name, mode="eval").body) for letter, name in read}
    return {letter: value for letter, value in values.items() if type(value) is int}
