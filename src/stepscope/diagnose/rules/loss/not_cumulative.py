from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.ops import GAUSSIAN, RESHAPES, SELECTIONS, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import constant_of
from stepscope.diagnose.predicted_noise import predictions
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name, dotted
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

_ENOUGH = 3
_HALF, _MANY = 0.5, 15
_ANCESTORS = 400
_SUMS = ("add", "add_")
_PRODUCTS = ("mul", "mul_")
_ROOTS = ("sqrt", "sqrt_", "pow")
_PICKS = SELECTIONS | {"gather", "index", "take"}


@rule("loss.not-cumulative", severity="error")
def not_cumulative(run: Evidence) -> Iterator[Proof]:
    """A diffusion model is trained with the wrong amounts of noise: of a single step, or of a wrong product.

    Why it matters: the sample at time t is `sqrt(a_bar[t]) * x + sqrt(1 - a_bar[t]) * noise`, with the product of all
    factors `alpha = 1 - beta` so far. With `alpha[t]` alone hardly any noise is added, also at the last step, and the
    model never sees what the sampler starts from. With the product of the betas the first step is noise already.

    What to do: index the cumulative product of the alphas: `alphas_cumprod[t]`.

    How it is found: the model learns to predict the noise that was mixed into its input at random times. The share of
    the noise comes from a table that is no product, and the script computes the product of that very table; or from
    the product of a schedule whose numbers are all below a half, so that nothing is left of the data after a few steps.

    Bad:
        a = alphas[t]
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
    Good:
        a = alphas.cumprod(0)[t]
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
    """
    found: list[tuple[Origin, Origin]] = []
    for prediction, target, _ in predictions(run):
        drawn = target.back_through(RESHAPES)
        if drawn.op in GAUSSIAN:
            found += _picked(prediction, drawn)
    for picked, table in found:
        several = len({one.step for one, other in found if other is table}) >= _ENOUGH
        if several and _vanishes(table):
            yield _of_betas(table, picked)
            return
        product = _product_of(run, table) if several and picked.place is not None else None
        if product is None or picked.place is None:
            continue
        name, made = product
        yield Proof(
            where=picked.place,
            message=f"the noise of one step, `{name}`, is used where the product of all steps up to t belongs",
            label="not the cumulative product",
            evidence={"table": name, "steps": len(found)},
            fix=f"take the cumulative product of `{name}`, which the script computes, at this place",
            related=[(made, "the product is computed here")],
        )
        return


def _vanishes(table: Origin) -> bool:
    """The product of a schedule from `linspace` whose numbers are all between 0 and a half, or of their squares."""
    schedule = table.inputs[0].back_through(RESHAPES) if table.op == "cumprod" and table.inputs else None
    if schedule is not None and schedule.op in ("pow", "square") and (constant_of(schedule) or 2.0) >= 1:
        schedule = schedule.inputs[0]
    if schedule is None or schedule.op != "linspace":
        return False
    ends = [one for one in schedule.arguments.values() if isinstance(one, float)]
    is_long = len(schedule.shape) == 1 and schedule.shape[0] >= _MANY
    return is_long and len(ends) == 2 and all(0 <= one < _HALF for one in ends)


def _of_betas(table: Origin, picked: Origin) -> Proof:
    return Proof(
        where=table.place,
        message="the product of the betas is taken, where that of the alphas (1 - beta) belongs: the betas are small, "
        "so nothing is left of the data after a few steps",
        label="falls to 0 at once: every sample is pure noise",
        evidence={"steps": table.shape[0]},
        fix="cumprod of (1 - betas)",
        related=[(picked.place, "taken as the share of the data here")] if picked.place is not None else [],
    )


def _picked(prediction: Origin, drawn: Origin) -> Iterator[tuple[Origin, Origin]]:
    """What was picked at random times from which table, to be the share of the noise in the model's input."""
    for past in prediction.ancestors(_ANCESTORS):
        if past.op not in _SUMS or past.requires_grad or len(past.inputs) != 2:
            continue
        for part in past.inputs:
            factors = part.inputs if part.op in _PRODUCTS and len(part.inputs) == 2 else ()
            noise = [one for one in factors if one.back_through(RESHAPES) is drawn]
            share = next((one for one in factors if one not in noise), None) if len(noise) == 1 else None
            root = None if share is None else _whole(share)
            if root is None or root.op not in _ROOTS or not root.inputs:
                continue
            rest = _whole(root.inputs[0])
            if rest.op not in ("rsub", "sub") or not rest.inputs:
                continue
            level = _whole(rest.inputs[-1])
            drawn_times = any(one.op == "randint" for source in level.inputs[1:] for one in source.ancestors(6))
            if level.op in _PICKS and len(level.inputs) > 1 and drawn_times:
                yield level, level.inputs[0].back_through(RESHAPES)


def _whole(origin: Origin) -> Origin:
    """Back through views that no index tensor takes part in: `a[:, None]` is `a`, `table[t]` is picked."""
    while origin.op in VIEWS and len(origin.inputs) == 1:
        origin = origin.inputs[0]
    return origin


def _product_of(run: Evidence, table: Origin) -> tuple[str, Site] | None:
    """The name of a table that is no product itself, and where the script computes its product."""
    if table.place is None or any(one.op == "cumprod" for one in table.ancestors(60)):
        return None
    file = run.source.file(table.place.file)
    node = run.source.expression(table.place)
    if file is None or node is None:
        return None
    statement = next((one for one in (node, *file.up(node)) if isinstance(one, ast.Assign)), None)
    names = {dotted(target) for target in statement.targets} - {""} if statement is not None else set()
    for call in file.calls("cumprod"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        multiplied = [dotted(one) for one in (owner, *call.args[:1]) if one is not None]
        name = next((one for one in multiplied if one in names), "")
        if name and called_name(call) == "cumprod":
            return name, file.site(call)
    return None
