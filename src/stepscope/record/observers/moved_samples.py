"""Asks datasets of pictures and masks for the same samples again: is a picture flipped or turned without its mask?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.moved_samples import MovedSamples, SamplesMoved
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.repeated_samples import SamplesAgain, may_be_asked

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["MovedSampleObserver", "alike"]

_DRAWS = 10
_DATASETS = 4
_SECONDS = 0.5
_ALIKE, _MORE = 0.8, 0.3
_FEWEST = 4
_LARGEST = 2**18
_MOVES: dict[str, Callable[[Any], Any]] = {
    "flipped left to right": lambda x: x.flip(-1),
    "flipped upside down": lambda x: x.flip(-2),
    "turned by 180 degrees": lambda x: x.flip(-1).flip(-2),
    "turned by 90 degrees": lambda x: x.transpose(-1, -2).flip(-2),
    "turned by 270 degrees": lambda x: x.transpose(-1, -2).flip(-1),
}


class MovedSampleObserver(Observer, SamplesMoved):
    def __init__(self, watcher: Watcher) -> None:
        SamplesMoved.__init__(self)
        super().__init__(watcher)

    def experiment(self) -> None:
        again = SamplesAgain(self.watcher)
        for delivery in self.watcher.loader_output.all[: 3 * _DATASETS]:
            dataset, fact = getattr(delivery, "_dataset", None), delivery.loader
            if dataset is None or not fact.is_training or not may_be_asked(fact) or not _has_masks(delivery.shapes):
                continue
            found = MovedSamples(fact)
            drawn = again.drawn(dataset, _DRAWS, _SECONDS)
            with quietly():
                for draws in drawn:
                    _compare(draws, found)
            if found.left or found.together:
                self.all.append(found)


def _has_masks(shapes: list[tuple[int, ...]]) -> bool:
    """A picture and something else of the same height and width."""
    if len(shapes) < 2 or len(shapes[0]) < 3 or min(shapes[0][-2:]) < _FEWEST:
        return False
    return any(shape[-2:] == shapes[0][-2:] and len(shape) >= 3 for shape in shapes[1:])


def _compare(draws: list[list[Any]], found: MovedSamples) -> None:
    """The same sample, drawn several times."""
    parts = [one for draw in draws if (one := _parts(draw)) is not None]
    if len(parts) < 2:
        return
    picture, mask = parts[0]
    for other, its_mask in parts[1:]:
        if other.shape != picture.shape or its_mask.shape != mask.shape:
            return
        if raw.equal(picture, other):
            found.together += any(_is_moved(mask, its_mask, move) for _, move in _fitting(picture))
        for name, move in _fitting(picture):
            moved = move(mask)
            near, plain = alike(move(picture), other), alike(picture, other)
            if near < _ALIKE or near < plain + _MORE or raw.equal(moved, mask):
                continue
            if raw.equal(its_mask, mask):
                found.left, found.move = found.left + 1, name
            elif raw.equal(its_mask, moved):
                found.together += 1
            break


def _is_moved(mask: Any, other: Any, move: Callable[[Any], Any]) -> bool:
    return not raw.equal(mask, other) and raw.equal(move(mask), other)


def _fitting(picture: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    is_square = picture.shape[-1] == picture.shape[-2]
    for name, move in _MOVES.items():
        if is_square or not name.endswith(("by 90 degrees", "by 270 degrees")):
            yield name, move


def _parts(draw: list[Any]) -> tuple[Any, Any] | None:
    """The picture and its mask, as tensors of doubles."""
    tensors = [one for part in draw if (one := _tensor(part)) is not None]
    picture = tensors[0] if tensors else None
    mask = next((one for one in tensors[1:] if picture is not None and one.shape[-2:] == picture.shape[-2:]), None)
    return None if picture is None or mask is None else (picture, mask)


def _tensor(part: Any) -> Any:
    try:
        found = raw.to(raw.detach(raw.as_tensor(part)), torch.float64)
    except (TypeError, ValueError, RuntimeError):  # text, or anything else
        return None
    return found if found.dim() in (2, 3) and 0 < found.numel() <= _LARGEST else None


def alike(one: Any, other: Any) -> float:
    """The correlation of two pictures."""
    a, b = one.reshape(-1) - one.mean(), other.reshape(-1) - other.mean()
    size = float(raw.item(a.norm() * b.norm()))
    return float(raw.item((a * b).sum())) / size if size else 0.0
