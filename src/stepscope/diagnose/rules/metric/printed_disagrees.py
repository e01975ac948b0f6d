from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.loaders import Loader
from stepscope.evidence.printed_numbers import Compared

_TIMES, _STEADY = 3, 0.02
_FAR, _FAR_SHARE = 0.05, 0.1
_POINTS, _TREND = 10, 0.8
_ROUNDED_UP = 0.5
"""Samples counted as whole batches are at most twice as many as there are."""
_MEAN = re.compile(r"(?:\b|_)(?:mean|avg|average|averaged)(?:\b|_)", re.IGNORECASE)
_FEWEST = 3
"""Batches of a pass: a factor of two has many causes."""


@rule("metric.printed-disagrees", severity="warning")
def printed_disagrees(run: Evidence) -> Iterator[Proof]:
    """A number the script prints is not what the training really did.

    Why it matters: decisions are made by what is printed. An accuracy divided by the wrong count, or a loss that is not
    the one being trained, looks like a result.

    What to do: compare the printed value with its definition: divide by the samples that were counted, and print the
    loss that `backward` is called on.

    How it is found: one of these, in three evaluations or over many steps. A printed accuracy is, always by the same
    factor, not the accuracy in the whole pass (a hint only, where the factor could be a mask's). An accuracy, or a
    loss that is called a mean, is as many times too large as the pass has batches: it is a sum. A printed training
    loss clearly rises while the loss that backward was called on clearly falls, or vice versa. Running means, other
    units and smoothing do none of this.

    Bad:
        print("accuracy:", correct / (len(loader) * batch_size))    # the last batch is smaller
    Good:
        print("accuracy:", correct / len(loader.dataset))
    """
    for one in run.printed_numbers.all:
        proof = _sum(run, one) or (_accuracy(one) if one.kind == "accuracy" else _opposite(one))
        if proof is not None:
            yield proof


def _sum(run: Evidence, one: Compared) -> Proof | None:
    """A mean that is a sum: as many times too large as a pass has batches."""
    trains = one.kind == "loss"
    factor = _factor([(said, real) for said, real in _pairs(one) if real])
    if factor is None or (trains and not _MEAN.search(one.name)):
        return None  # to print the sum of the losses is a choice, where nobody calls it a mean
    passes = {_pass_length(loader) for loader in run.loaders.all if loader.is_training is trains}
    scales = (1.0,) if trains else (1.0, 100.0)
    batches = next(
        (n for n in passes for scale in scales if n >= _FEWEST and abs(factor / scale - n) < _STEADY * n), None
    )
    if batches is None or (not trains and max(one.printed) <= 1.0):
        return None
    said, real = one.printed[-1], one.derived[-1]
    what = "the mean loss" if trains else "the accuracy"
    return Proof(
        where=one.site,
        message=f"the printed '{one.name}' is a sum over {batches} batches, not a mean",
        label=f"{said:.4g} is printed, {what} is {real:.4g}",
        evidence={"printed": said, "mean": round(real, 6), "factor": round(factor, 4), "batches": batches},
        fix=f"divide it by the number of batches, {batches} here: len(loader)",
    )


def _pass_length(loader: Loader) -> int:
    """Its batches in each pass; 0 where passes were cut short."""
    whole = loader.epochs > 0 and loader.finished == loader.epochs and loader.batches % loader.epochs == 0
    return loader.batches // loader.epochs if whole else 0


def _factor(pairs: Sequence[tuple[float, float]]) -> float | None:
    """By how much the printed values differ, where it is the same every time."""
    if len(pairs) < _TIMES:
        return None
    factors = sorted(said / real for said, real in pairs)
    middle = factors[len(factors) // 2]
    return middle if all(abs(factor - middle) <= _STEADY * abs(middle) for factor in factors) else None


def _accuracy(one: Compared) -> Proof | None:
    pairs = [(value / 100 if max(one.printed) > 1.5 else value, real) for value, real in _pairs(one) if real]
    if len(pairs) < _TIMES or any(abs(said - real) < max(_FAR, _FAR_SHARE * real) for said, real in pairs):
        return None
    middle = _factor(pairs)
    if middle is None:
        return None  # another measure, or other samples: masked, balanced, of the best five
    said, real = pairs[-1]
    is_wrong = said > 1 or _ROUNDED_UP <= middle < 1
    return Proof(
        where=one.site,
        severity=None if is_wrong else "info",  # an accuracy over some of the positions, padding left out
        message=f"the printed '{one.name}' is {middle:.2f} times the accuracy",
        label=f"{said:.3f} is printed, {real:.3f} of the predictions were correct",
        evidence={"printed": said, "counted": round(real, 4), "factor": round(middle, 4), "evaluations": len(pairs)},
        fix="divide by the number of evaluated samples: len(loader.dataset), or a counter",
    )


def _opposite(one: Compared) -> Proof | None:
    if len(one.printed) < _POINTS:
        return None
    said, real = _trend(one.printed), _trend(one.derived)
    if abs(said) < _TREND or abs(real) < _TREND or said * real > 0:
        return None
    way, other = ("rises", "falls") if said > 0 else ("falls", "rises")
    said_text, real_text = (f"{values[0]:.4g} to {values[-1]:.4g}" for values in (one.printed, one.derived))
    return Proof(
        where=one.site,
        message=f"the printed '{one.name}' {way} while the training loss {other}",
        label=f"printed {said_text}, trained {real_text}",
        evidence={"printed": one.printed[:8], "trained": [round(value, 6) for value in one.derived[:8]]},
        fix="print the loss that backward is called on",
    )


def _pairs(one: Compared) -> list[tuple[float, float]]:
    return list(zip(one.printed, one.derived, strict=True))


def _trend(values: Sequence[float]) -> float:
    """Kendall's tau with time: 1 for a series that only rises, -1 for one that only falls.

    >>> _trend([1.0, 2.0, 3.0, 4.0]), round(_trend([4.0, 3.0, 1.0, 2.0]), 2)
    (1.0, -0.67)
    """
    signs = [(b > a) - (b < a) for at, a in enumerate(values) for b in values[at + 1 :]]
    return sum(signs) / len(signs) if signs else 0.0
