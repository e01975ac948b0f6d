"""Measures what each input of a model looks like, feature by feature, in training and in evaluation."""

from __future__ import annotations

import math
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.input_profiles import InputProfile, InputProfiles, ModelInputProfiles
from stepscope.evidence.origins import OUTPUT, PARAMETER, Origin
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import Allowance, can_look, row_marks

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["InputProfileObserver"]

_CALLS, _PLACES, _INPUTS, _PENDING = 16, 8, 4, 32
_VALUES, _ROWS, _FEATURES = 2**16, 2048, 128
_IDS, _LISTED = 2048, 2**16
_CHANNELS = 64
_PADDING = 0.05
_ZERO, _ONE = 1e-3, 0.05


class _Sums:
    """What is added up of one input; written down as an `InputProfile` before rules are asked."""

    def __init__(self, profile: InputProfile) -> None:
        self.profile = profile
        self.count = 0
        self.total: list[float] = []
        self.squares: list[float] = []
        self.of_rows: list[float] = []

    def add(self, look: _Look, place: Place | None, marks: set[int] | None) -> None:
        profile = self.profile
        if profile.calls == 0:
            profile.place, profile.origin = place, look.origin
            width = len(look.total)
            self.total, self.squares, self.of_rows = [0.0] * width, [0.0] * width, [0.0] * width
            profile.low, profile.high = [float("inf")] * width, [float("-inf")] * width
        elif len(look.total) != len(self.total):
            return
        profile.calls += 1
        profile.rows += look.rows
        profile.whole = profile.whole and look.whole
        profile.each_standardized = profile.each_standardized and look.each_standardized
        if marks is not None:
            profile.seen += sum(mark in marks for mark in look.marks)
        self.count += look.count
        self.total = [a + b for a, b in zip(self.total, look.total, strict=True)]
        self.squares = [a + b for a, b in zip(self.squares, look.squares, strict=True)]
        self.of_rows = [a + b for a, b in zip(self.of_rows, look.of_rows, strict=True)]
        profile.low = [min(pair) for pair in zip(profile.low, look.low, strict=True)]
        profile.high = [max(pair) for pair in zip(profile.high, look.high, strict=True)]
        for value, times in look.ids.items():
            if value in profile.ids or len(profile.ids) < _IDS:
                profile.ids[value] = profile.ids.get(value, 0) + times

    def write(self) -> None:
        profile = self.profile
        if self.count:
            profile.mean = [total / self.count for total in self.total]
            profile.deviation = [_root(s / self.count - m * m) for s, m in zip(self.squares, profile.mean, strict=True)]
            profile.between = [_root(s / profile.rows - m * m) for s, m in zip(self.of_rows, profile.mean, strict=True)]


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))


class _Look:
    """One input of one call."""

    def __init__(self, tensor: Any, origin: Origin) -> None:
        self.origin = origin
        rows = tensor.shape[0]
        width = tensor.numel() // rows
        kept = max(1, min(rows, _ROWS, _VALUES // max(1, width)))
        self.whole = kept == rows
        tensor = here(raw.detach(tensor)[:kept])
        self.rows = kept
        self.marks = row_marks(tensor)
        self.ids: dict[int, int] = {}
        if not tensor.is_floating_point():
            self.ids = _ids_of(tensor[: max(1, _LISTED // max(1, width))])
        table = raw.to(_by_feature(tensor), torch.float64)  # [rows, values, features]
        self.count = table.shape[0] * table.shape[1]
        flat = table.reshape(-1, table.shape[2])
        self.total, self.squares = raw.tolist(flat.sum(0)), raw.tolist(flat.square().sum(0))
        self.of_rows = raw.tolist(table.mean(1).square().sum(0))
        self.low, self.high = raw.tolist(flat.amin(0)), raw.tolist(flat.amax(0))
        self.each_standardized = _each_standardized(table)


def _ids_of(tensor: Any) -> dict[int, int]:
    """How often each id occurs; not those that only fill up the beginning or the end of rows, unless a whole row."""
    every = Counter(raw.tolist(tensor.reshape(-1)))
    if tensor.ndim == 2 and tensor.shape[1] >= 3:
        before = raw.long(tensor == tensor[:, :1]).cumprod(1)
        after = raw.long(tensor == tensor[:, -1:]).flip(1).cumprod(1).flip(1)
        inside = Counter(raw.tolist(tensor[((before == 0) & (after == 0)) | (before[:, -1:] == 1)]))
        ends = Counter(raw.tolist(tensor[:, 0])) + Counter(raw.tolist(tensor[:, -1]))
        every = Counter({one: times for one, times in every.items() if inside[one] > _PADDING * times or not ends[one]})
    return dict(every.most_common(_IDS))


def _by_feature(tensor: Any) -> Any:
    """As [rows, values, features]: columns of tables, channels of pictures and series; one feature of anything else."""
    rows = tensor.shape[0]
    if tensor.ndim == 2 and tensor.is_floating_point() and tensor.shape[1] <= _FEATURES:
        return tensor.reshape(rows, 1, -1)
    if tensor.ndim >= 3 and tensor.is_floating_point():
        first, last = tensor.shape[1], tensor.shape[-1]
        if last <= first and last <= _CHANNELS:
            return tensor.reshape(rows, -1, last)
        if first <= _CHANNELS:
            return tensor.reshape(rows, first, -1).transpose(1, 2)
    return tensor.reshape(rows, -1, 1)


def _each_standardized(table: Any) -> bool:
    """Each row has mean 0 and deviation 1, over everything or in each feature."""
    if table.shape[1] * table.shape[2] < 8:
        return False
    ways = [table.reshape(table.shape[0], -1, 1)]
    if table.shape[1] >= 8:
        ways.append(table)
    for way in ways:
        off, spread = way.mean(1).abs(), way.std(1)
        if bool(raw.item((off < _ZERO).all() & ((spread - 1).abs() < _ONE).all())):
            return True
    return False


class InputProfileObserver(Observer, InputProfiles):
    def __init__(self, watcher: Watcher) -> None:
        InputProfiles.__init__(self)
        super().__init__(watcher)
        self._inputs: weakref.WeakKeyDictionary[Any, dict[int, ModelInputProfiles]] = weakref.WeakKeyDictionary()
        self._sums: dict[tuple[ModelInputProfiles, Place | None, bool], _Sums] = {}
        self._trained_rows: dict[ModelInputProfiles, set[int]] = {}
        self._pending: list[tuple[ModelInputProfiles, _Look, Place | None]] = []
        self._allowance = Allowance(0.1)

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if not self._allowance.left() or next(module.parameters(), None) is None:
            return
        for position, tensor in enumerate(tensors_in((args, kwargs))[:_INPUTS]):
            profiles = self._profiles(module, position)
            place, training = visit.place, visit.grad and visit.training
            if profiles is None or not self._is_open(profiles, place, training) or not _is_data(tensor):
                continue
            origin = self.watcher.tensor_history.known(tensor)
            if origin is None or origin.tags & (PARAMETER | OUTPUT):
                continue
            with self._allowance, quietly():
                look = _Look(tensor, origin)
            if training:
                self._pending.append((profiles, look, place))
                del self._pending[:-_PENDING]
            else:
                self._sums_of(profiles, place, False).add(look, place, self._trained_rows[profiles])

    def _profiles(self, module: Any, position: int) -> ModelInputProfiles | None:
        known = self._inputs.setdefault(module, {})
        if position not in known:
            if len(self._trained_rows) >= _PENDING:
                return None
            found = known[position] = ModelInputProfiles(type(module).__name__, position)
            self._trained_rows[found] = set()
            self.all.append(found)
        return known[position]

    def _is_open(self, profiles: ModelInputProfiles, place: Place | None, training: bool) -> bool:
        """Whether more calls of this kind are wanted."""
        sums = self._sums.get((profiles, None if training else place, training))
        if sums is not None:
            return sums.profile.calls < _CALLS
        return training or len(profiles.evaluated) < _PLACES

    def _sums_of(self, profiles: ModelInputProfiles, place: Place | None, training: bool) -> _Sums:
        key = (profiles, None if training else place, training)
        if key not in self._sums:
            profile = profiles.trained if training else InputProfile()
            if not training:
                profiles.evaluated.append(profile)
            self._sums[key] = _Sums(profile)
        return self._sums[key]

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        pending, self._pending = self._pending, []
        if not backward.accumulates:
            return
        for profiles, look, place in pending:
            sums = self._sums_of(profiles, place, True)
            if sums.profile.calls < _CALLS:
                sums.add(look, place, None)
            self._trained_rows[profiles].update(look.marks)

    def settle(self) -> None:
        for sums in self._sums.values():
            sums.write()


def _is_data(tensor: Any) -> bool:
    return tensor.ndim > 0 and not tensor.requires_grad and can_look(tensor) and tensor.dtype is not torch.bool
