from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.model_inputs import ModelInput

_LARGE = 100.0
_TYPICAL = 20.0
_RATIO = 1000.0


@rule("data.unscaled-input", severity="warning", follows=("num.*", "data.nan-input", "data.eval-inputs-differ"))
def unscaled_input(run: Evidence) -> Iterator[Proof]:
    """Raw numbers of very different magnitude than 1 go straight into the first layer.

    Why it matters: the first layer's outputs and gradients are as large as its inputs, so that one learning rate cannot
    fit all weights: training is slow, or blows up. Large columns drown the small ones.

    What to do: standardize the features (mean 0, deviation 1, from the training part), divide pixels by 255, or put a
    normalization layer first.

    How it is found: the values with which data meets the first weights, after every scaling the script does. Integers
    for an embedding are not checked, and neither is data that is normalized next.

    Bad:
        x = torch.tensor(pixels, dtype=torch.float32)           # 0 ... 255
    Good:
        x = torch.tensor(pixels, dtype=torch.float32) / 255
    """
    for entrance in run.model_inputs.all:
        looks = entrance.looks
        if (len(looks) < 2 and not run.over) or not looks or entrance.normalised_next:
            continue
        if not run.steps.step_count:
            continue
        said = _large(entrance) or _uneven(entrance)
        if said is None:
            continue
        message, label = said
        low, high = min(look.low for look in looks), max(look.high for look in looks)
        yield Proof(
            where=birth(run, entrance.origin) or entrance.place,
            message=message,
            label=label,
            evidence={
                "lowest": low, "highest": high, "typical": looks[0].rms, "column_deviations": looks[0].columns[:20],
            },
            fix=_fix(low, high),
            related=[(entrance.place, "it reaches the first weights here")],
        )  # fmt: skip


def _large(entrance: ModelInput) -> tuple[str, str] | None:
    looks = entrance.looks
    if not all(max(-look.low, look.high) > _LARGE and look.rms > _TYPICAL for look in looks):
        return None
    low, high = min(look.low for look in looks), max(look.high for look in looks)
    return (
        f"the model is given raw numbers from {low:.4g} to {high:.4g}",
        f"values up to {max(-low, high):.4g} reach the first layer",
    )


def _uneven(entrance: ModelInput) -> tuple[str, str] | None:
    for look in entrance.looks:
        spread = [deviation for deviation in look.columns if deviation > 1e-8]
        if len(spread) < 2 or max(spread) < 10 or max(spread) / min(spread) < _RATIO:
            return None
    large, small = max(entrance.looks[0].columns), min(d for d in entrance.looks[0].columns if d > 1e-8)
    column = entrance.looks[0].columns.index(large)
    return (
        f"the features have very different scales: column {column} varies by {large:.3g}, another by {small:.3g}",
        f"deviations from {small:.3g} to {large:.3g}",
    )


def _fix(low: float, high: float) -> str:
    if low >= 0 and 200 < high <= 255:
        return "divide the pixels by 255 (or normalize them) before the model"
    return "standardize the features with the mean and deviation of the training data"
