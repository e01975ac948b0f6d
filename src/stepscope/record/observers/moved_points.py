"""Asks datasets of pictures and positions for the same samples again: is a picture flipped without its key points?

That the numbers are positions is read from the data: where another loader hands out such pictures without flips, the
part of a picture that a flip turns round (left minus right) must tell a good part of one of the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.moved_points import MovedPoints, PointsMoved
from stepscope.record.observers.moved_samples import alike
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.repeated_samples import SamplesAgain, may_be_asked

if TYPE_CHECKING:
    from stepscope.record.observers.loader_output import LiveDelivery
    from stepscope.record.observers.watcher import Watcher

__all__ = ["MovedPointObserver", "explained"]

_DRAWS, _DATASETS, _SECONDS = 8, 3, 0.5
_COMPARED = 300
_ALIKE, _MORE = 0.8, 0.3
_FEWEST, _LARGEST = 8, 2**18
_NUMBERS = 16
_BINS = 8
_VALUES = 16
_FLIPS = {"flipped left to right": -1, "flipped upside down": -2}


class MovedPointObserver(Observer, PointsMoved):
    def __init__(self, watcher: Watcher) -> None:
        PointsMoved.__init__(self)
        super().__init__(watcher)

    def experiment(self) -> None:
        again = SamplesAgain(self.watcher)
        for delivery in self.watcher.loader_output.all[: 3 * _DATASETS]:
            dataset, fact = getattr(delivery, "_dataset", None), delivery.loader
            if dataset is None or not fact.is_training or not may_be_asked(fact) or not _has_numbers(delivery.shapes):
                continue
            found = MovedPoints(fact)
            drawn = again.drawn(dataset, _DRAWS, _SECONDS)
            with quietly():
                for draws in drawn:
                    _compare(draws, found)
            if found.left:
                self._explain(again, delivery, found)
                self.all.append(found)

    def _explain(self, again: SamplesAgain, delivery: Any, found: MovedPoints) -> None:
        others: list[LiveDelivery] = self.watcher.loader_output.all  # type: ignore[assignment]
        for other in others:
            is_like = not other.loader.is_training and [one[1:] for one in other.shapes] == [
                one[1:] for one in delivery.shapes
            ]
            if other._dataset is None or not is_like or not may_be_asked(other.loader):
                continue
            drawn = again.drawn(other._dataset, 1, _SECONDS, _COMPARED)
            with quietly():
                pairs = [one for draws in drawn if draws and (one := _parts(draws[0])) is not None]
                found.explained = max(found.explained, explained(pairs, _FLIPS[found.move]))


def _has_numbers(shapes: list[tuple[int, ...]]) -> bool:
    """A picture, and a few numbers for each."""
    if len(shapes) < 2 or len(shapes[0]) < 3 or min(shapes[0][-2:]) < _FEWEST:
        return False
    return any(1 <= _count(shape[1:]) <= _NUMBERS for shape in shapes[1:])


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _compare(draws: list[list[Any]], found: MovedPoints) -> None:
    """The same sample, drawn several times."""
    parts = [one for draw in draws if (one := _parts(draw)) is not None]
    if len(parts) < 2:
        return
    picture, numbers = parts[0]
    found.numbers = numbers.numel()
    for other, its_numbers in parts[1:]:
        if other.shape != picture.shape or its_numbers.shape != numbers.shape:
            return
        for name, axis in _FLIPS.items():
            near, plain = alike(picture.flip(axis), other), alike(picture, other)
            if near < _ALIKE or near < plain + _MORE:
                continue
            if raw.equal(its_numbers, numbers):
                found.left, found.move = found.left + 1, name
            else:
                found.together += 1
            break


def _parts(draw: list[Any]) -> tuple[Any, Any] | None:
    """The picture and its numbers, as tensors of doubles."""
    picture = _tensor(draw[0]) if draw else None
    if picture is None or picture.dim() not in (2, 3) or not _FEWEST**2 <= picture.numel() <= _LARGEST:
        return None
    for part in draw[1:]:
        numbers = _tensor(part)
        if numbers is not None and 1 <= numbers.numel() <= _NUMBERS and _is_measured(part):
            return picture, numbers.reshape(-1)
    return None


def _is_measured(part: Any) -> bool:
    """Numbers with a fraction, not the number of a class."""
    if isinstance(part, float):
        return True
    return "float" in str(getattr(part, "dtype", ""))


def _tensor(part: Any) -> Any:
    try:
        return raw.to(raw.detach(raw.as_tensor(part)), torch.float64)
    except (TypeError, ValueError, RuntimeError):  # text, or anything else
        return None


def explained(pairs: list[tuple[Any, Any]], axis: int) -> float:
    """How much of the variance of one of the numbers a flip would turn round: fitted on one half of the pairs, measured
    on the other; 0 when there are too few."""
    if len(pairs) < 6 * _BINS or len({(a.shape, b.shape) for a, b in pairs}) != 1:
        return 0.0
    profiles = raw.stack([_profile(picture, axis) for picture, _ in pairs])
    odd = (profiles - profiles.flip(1))[:, : profiles.shape[1] // 2]
    wanted = raw.stack([numbers for _, numbers in pairs])
    half = len(pairs) // 2
    middle = wanted[:half].mean(0)
    given = odd[:half].T @ odd[:half]
    small = 1e-6 * float(raw.item(given.diagonal().mean())) + 1e-12
    weights = torch.linalg.solve(
        given + small * torch.eye(len(given), dtype=given.dtype), odd[:half].T @ (wanted[:half] - middle)
    )
    left = (wanted[half:] - middle - odd[half:] @ weights).square().mean(0)
    spread = wanted[half:].var(0, unbiased=False)
    measured = [column.unique().numel() >= _VALUES for column in wanted.T]  # not a label: 0 and 1, or a few classes
    shares = [
        1 - share for share, is_one in zip(raw.tolist(left / spread.clamp_min(1e-12)), measured, strict=True) if is_one
    ]
    return max(shares, default=0.0)


def _profile(picture: Any, axis: int) -> Any:
    """The mean brightness of each column (or row), in a few bins."""
    axes = [one for one in range(picture.dim()) if one != picture.dim() + axis]
    line = picture.mean(axes)
    return torch.nn.functional.adaptive_avg_pool1d(line[None], 2 * _BINS)[0] if len(line) > 2 * _BINS else line
