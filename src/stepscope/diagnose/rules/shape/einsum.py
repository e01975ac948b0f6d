from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.crash.einsum import Equation, clash, equation_of, extended, reordered
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.einsum", severity="error", needs="crash", follows=("shape.last-batch",))
def einsum(run: Evidence) -> Iterator[Proof]:
    """The letters of an `einsum` equation do not match the axes of its tensors.

    Why it matters: the same letter means the same size. Where two axes with one letter differ, the letters of a tensor
    are in another order than its axes.

    What to do: write the letters in the order in which the axes lie. The equation that fits these shapes is printed.

    How it is found: the letters of each tensor are put into every other order, and those that fit all shapes are kept.

    Bad:
        scores = torch.einsum("bhqd,bkhd->bhqk", q, k)      # q is [batch, time, heads, size]
    Good:
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
    """
    crash = run.crash
    equation = None if crash is None or not crash.says(r"einsum\(\)") else equation_of(crash)
    if crash is None or equation is None:
        return
    shapes = {name: list(shape) for name, shape in zip(equation.names, equation.shapes, strict=True)}
    found = clash(equation)
    if found is not None:
        letter, places = found
        told = " and ".join(f"{size} in {name} (axis {axis})" for name, axis, size in places)
        message, label = f'the letter "{letter}" of this einsum is {told}', f'"{letter}" has two sizes'
        fits = reordered(equation, crash)
    else:
        wrong = equation.miscounted
        if wrong is None:
            return
        name, letters, axes = wrong
        message, label = f"{name} has {axes} axes, and the equation gives it {letters} letters", f"{axes} axes"
        fits = extended(equation)
    yield Proof(
        where=crash.site,
        message=message,
        label=label,
        evidence={"equation": equation.text, **shapes},
        edit=edits.argument(crash.site, 0, "equation", repr_of(fits[0])) if len(fits) == 1 else None,
        fix=_fix(fits, equation),
    )


def repr_of(text: str) -> str:
    return f'"{text}"'


def _fix(fits: list[str], equation: Equation) -> str:
    if not fits:
        return "give each axis the letter of what it means, and one letter to axes of the same size only"
    return f"the equation that fits these shapes: {' or '.join(map(repr_of, fits[:2]))}"
