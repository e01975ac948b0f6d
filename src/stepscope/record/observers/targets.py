"""Targets: what losses compare predictions with, set beside what the model was given for them.

Labels in the order they came, rows and labels in pairs, a target that is one of the inputs, the random draws that
picked the rows and those that picked the targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.common.ops import CONSTANTS, INT_CASTS, PICKS, RESHAPES, SELECTIONS
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.origins import PARAMETER, Origin
from stepscope.evidence.targets import Target, Targets
from stepscope.record.observers.fetch import here, is_far
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import Allowance, can_look, labels_in

if TYPE_CHECKING:
    from stepscope.record.observers.batches import LiveFed
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_WITH_LABELS = frozenset({"cross_entropy", "nll_loss", "multi_margin_loss"})
_WITH_EITHER = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits", "soft_margin_loss"})
_WITH_VALUES = frozenset(
    {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss", "poisson_nll_loss"}
)
_DIFFERENCE = frozenset({"sub"})
_LOOKS = 12
_LARGEST_FAR, _CALLS_FAR = 2**20, 40
_PLACES = 60
_MOST_LABELS = 30_000
_WIDEST = 4096
_ANCESTORS = 3000
_DRAWS = frozenset({"randperm", "randint", "multinomial", "random_", "rand"})
_PICKS = PICKS | {"getitem", "index_select"}
_IGNORING = {"cross_entropy": (4, "ignore_index"), "nll_loss": (4, "ignore_index")}
_FILLS = CONSTANTS | {"fill_", "zero_"}
_UNCHANGED = RESHAPES | INT_CASTS


class LiveTarget(Target):
    __slots__ = ("_conflicts", "_label_of")

    def __init__(self, op: str, place: Place | None, origin: Origin) -> None:
        super().__init__(op, place, origin)
        self._label_of: dict[int, int] = {}
        """Mark of a row -> the label it came with first."""
        self._conflicts: set[int] = set()
        """Rows that came with two labels."""

    def note_labels(self, marks: list[int], labels: list[int]) -> None:
        for mark, label in zip(marks, labels, strict=True):
            before = self._label_of.setdefault(mark, label)
            if before != label:
                self._conflicts.add(mark)
                self.clash = self.clash or (before, label)
        self.samples, self.clashes = len(self._label_of), len(self._conflicts)


class TargetObserver(Observer, Targets):
    ops: ClassVar[frozenset[str]] = _WITH_LABELS | _WITH_EITHER | _WITH_VALUES | _DIFFERENCE

    def __init__(self, watcher: Watcher) -> None:
        Targets.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, LiveTarget] = {}
        self._allowance = Allowance(0.25)

    def op(self, call: Call) -> None:
        if not call.grad or len(call.inputs) < 2:
            return
        prediction, target = call.inputs[0], call.inputs[1]
        origin = call.origins[1]
        if call.name in _DIFFERENCE:
            if call.visit is not None and call.visit.parent is not None:
                return
            if not prediction.requires_grad and target.requires_grad:
                prediction, target, origin = target, prediction, call.origins[0]
            if prediction.shape != target.shape or not prediction.ndim:
                return
        if not prediction.requires_grad or target.requires_grad or origin.tags & PARAMETER or not can_look(target):
            return
        found = self._target(call, origin)
        if found is None or not self._allowance.left():
            return
        feds = self.watcher.batches_fed.pending
        with self._allowance:
            found.calls += 1
            self._note(found, call, target, origin, feds)

    def _target(self, call: Call, origin: Origin) -> LiveTarget | None:
        found = self._by_place.get(call.place)
        if found is None and len(self.all) < _PLACES:
            found = self._by_place[call.place] = LiveTarget(call.name, call.place, origin)
            self.all.append(found)
        return found

    def _note(self, found: LiveTarget, call: Call, target: Any, origin: Origin, feds: list[LiveFed]) -> None:
        rows = target.shape[0] if target.ndim else 0
        fed = next((one for one in reversed(feds) if len(one.marks) == rows or _has_rows(one, rows)), None)
        if call.name not in _DIFFERENCE and not _is_filled(origin):
            self._labels(found, target, fed)
        if found.data is None:
            if fed is not None:
                found.data, found.loader = fed.origin, fed.loader
            elif not feds:  # a model that is not a module
                found.data = _data_behind(call.origins[0], rows)
                found.loader = None if found.data is None else found.data.loader
        if found.looks >= _LOOKS:
            return
        if is_far(target) and target.numel() > _LARGEST_FAR:
            return
        target = here(target)
        found.looks += 1
        if target.is_floating_point() and not bool(raw.item(raw.isfinite(target).all())):
            found.nan_step = found.nan_step if found.nan else self.watcher.step
            found.nan += 1
        if call.name in _IGNORING and not target.is_floating_point():
            found.ignore_index = int(call.argument(*_IGNORING[call.name], -100))
            found.ignored += bool(raw.item((target == found.ignore_index).all()))
        found.rows = rows
        found.whole += rows > 0 and not _picked(call.origins[0])
        for fed in feds[-4:]:
            self._compare(found, target, call.origins, fed)
        self._loaders(found, origin, feds)
        if len(found.apart) < 3:
            self._draws(found, origin, feds)

    def _labels(self, found: LiveTarget, target: Any, fed: LiveFed | None) -> None:
        if is_far(target) and found.calls > _CALLS_FAR:
            return
        if found.labelled >= _MOST_LABELS or (fed is None and self.watcher.batches_fed.pending):
            return
        labels = labels_in(target)
        if labels is None:
            return
        found.labels.append(labels)
        found.labelled += len(labels)
        if fed is None or len(fed.marks) != len(labels):
            return
        found.note_labels(fed.marks, labels)

    def _compare(self, found: Target, target: Any, origins: tuple[Origin, ...], fed: LiveFed) -> None:
        prediction, origin = (origins[0], origins[1]) if origins[0].requires_grad else (origins[1], origins[0])
        for given in self._inputs(origin, fed):
            if is_far(given) and given.numel() > _LARGEST_FAR:
                continue
            data = here(given)
            whole = not data.is_floating_point() and not target.is_floating_point()
            if whole and data.ndim >= 2 and _are_same(data, target):
                if _is_cut(prediction, self.watcher.tensor_history.of(given)):
                    return  # a decoder that is given the answers shifts them itself
                found.same_ids += 1
                found.data = found.data or self.watcher.tensor_history.known(given)
                found.vocabulary.update(raw.tolist(target.reshape(-1)[:256]))
                return
            if whole and data.ndim == 2 and not self._is_behind(given, origin):
                ahead = _places_ahead(data.long(), target.reshape(-1).long(), found.ignore_index)
                if ahead is not None:
                    found.ids_ahead[ahead] = found.ids_ahead.get(ahead, 0) + 1
                    return
            elif data.is_floating_point() and 1 < data.ndim <= 4 and data.shape[0] == target.numel():
                self._leak(found, target, data)

    def _is_behind(self, data: Any, origin: Origin) -> bool:
        """Whether the target was made of this very tensor: the labels a model was given to compute its own loss."""
        known = self.watcher.tensor_history.known(data)
        return known is not None and any(past is known for past in origin.ancestors(60))

    def _inputs(self, origin: Origin, fed: LiveFed) -> list[Any]:
        """What the model was given, without the target itself where the model computes its own loss."""
        given = [t for t in fed.inputs() if not t.requires_grad and can_look(t)]
        inside = self.watcher.visits.innermost is not None
        if not inside:
            return given
        made = origin.back_through(_UNCHANGED)
        known = self.watcher.tensor_history.of
        own = [t for t in given if known(t).back_through(_UNCHANGED) is made]
        return [t for t in given if not any(t is one for one in own)] + own[1:]

    def _leak(self, found: Target, target: Any, data: Any) -> None:
        width = data.numel() // data.shape[0]
        if not 1 < width <= _WIDEST or data.shape[0] < 4 or data.numel() > 2**20:
            return
        table = raw.to(raw.detach(data).reshape(data.shape[0], -1), torch.float64)
        values = raw.to(raw.detach(target).reshape(-1), torch.float64)
        found.distinct.update(raw.tolist(values[:64]))
        found.leak_rows += len(values)
        found.leak_calls += 1
        found.width = tuple(data.shape[1:])
        same = raw.tolist((table == values[:, None]).all(0).nonzero().reshape(-1))
        now: dict[int, str] = dict.fromkeys(same, "same")
        if len(values) >= 8:
            for column in _in_line(table, values):
                now.setdefault(column, "scaled")
        before = found.leaking
        if before is None:
            found.leaking = now
        else:
            found.leaking = {c: how if now[c] == how else "scaled" for c, how in before.items() if c in now}

    def _loaders(self, found: Target, origin: Origin, feds: list[LiveFed]) -> None:
        own = next((past.loader for past in origin.ancestors(60) if past.loader is not None), None)
        fed_by = [fed.loader for fed in feds if fed.loader is not None]
        if own is None or not fed_by or own in fed_by or len(fed_by) < len(feds):
            return
        if own.sampler == fed_by[-1].sampler == "RandomSampler":
            found.strange += 1
            found.strange_loader = (fed_by[-1], own)

    def _draws(self, found: Target, origin: Origin, feds: list[LiveFed]) -> None:
        of_target = draws_behind(origin)
        of_data: dict[int, Origin] = {}
        of_main: dict[int, Origin] = {}
        for fed in feds[-4:]:
            for given in fed.visit.inputs:
                of_data.update(draws_behind(given))
            if fed.origin is not None:  # the rest may be conditions with draws of their own: a noise level, a mask
                of_main.update(draws_behind(fed.origin))
        if of_target.keys() & of_data.keys():
            return  # one draw picked both; the others are something else
        only_data = [draw for index, draw in of_main.items() if index not in of_target]
        only_target = [draw for index, draw in of_target.items() if index not in of_data]
        if only_data and only_target:
            found.apart.append((only_data[0], only_target[0]))


def _picked(origin: Origin) -> bool:
    """Whether rows were picked or masked between the model's output and the loss."""
    outside = (past for past in origin.ancestors(60, through=lambda one: one.visit is None))
    return any(past.visit is None and past.op in (*_PICKS, "masked_select", "where", "mul") for past in outside)


def _is_filled(origin: Origin) -> bool:
    """Whether a target is one number all over, made for the occasion: the real and the fake of an adversary."""
    made = origin.ancestors(40, through=lambda one: one.op not in _PICKS and one.kind != "data")
    return any(past.op in _FILLS for past in made)


def _data_behind(origin: Origin, rows: int) -> Origin | None:
    """What a prediction was computed from that no parameter has touched."""
    for past in origin.ancestors(400):
        if past.shape[:1] == (rows,) and past.is_floating and not past.tags & PARAMETER:
            return past
    return None


def _is_cut(prediction: Origin, given: Origin) -> bool:
    """Whether the model reads what it was given in parts, step by step or without its last one."""
    whole = given.back_through(_UNCHANGED)
    return any(
        past.op in SELECTIONS and past.inputs and past.inputs[0].back_through(_UNCHANGED) is whole
        for past in prediction.ancestors(_ANCESTORS)
    )


def _has_rows(fed: LiveFed, rows: int) -> bool:
    return any(data.ndim and data.shape[0] == rows for data in fed.inputs())


def _are_same(data: Any, target: Any) -> bool:
    return data.numel() == target.numel() and bool(raw.equal(data.reshape(-1).long(), target.reshape(-1).long()))


def _places_ahead(ids: Any, target: Any, ignored: int) -> int | None:
    """How many places on in each row the targets are, 1 or 2; None: neither, or the rows repeat and it may be both."""
    rows, length = ids.shape
    width = target.numel() // rows
    if rows * width != target.numel() or not length - 2 <= width <= length or width < 6:
        return None
    target = target.reshape(rows, width)
    fits = []
    for ahead in (1, 2):
        part, given = target[:, : length - ahead], ids[:, ahead : ahead + width]
        both = min(part.shape[1], given.shape[1])
        same = (part[:, :both] == given[:, :both]) | (part[:, :both] == ignored)
        if bool(raw.item(same.all())) and bool(raw.item((part[:, :both] != ignored).any())):
            fits.append(ahead)
    return fits[0] if len(fits) == 1 else None


def _in_line(table: Any, values: Any) -> list[int]:
    """Columns that are the values stretched and moved, to the last digits."""
    values = values - values.mean()
    table = table - table.mean(0)
    size = values.norm() * table.norm(dim=0)
    match = (values @ table).abs() / size.clamp_min(1e-12)
    found: list[int] = raw.tolist(((match > 1 - 1e-9) & (size > 1e-9)).nonzero().reshape(-1))
    return found


def draws_behind(origin: Origin) -> dict[int, Origin]:
    """The random draws that said which rows were picked on the way to a tensor."""
    found: dict[int, Origin] = {}
    for past in origin.ancestors(
        400, through=lambda one: one.op in _PICKS or one.op in _UNCHANGED or one.kind == "data"
    ):
        if past.op in _PICKS and len(past.inputs) > 1:
            for index in past.inputs[1:]:
                if index.is_floating:
                    continue
                found.update({one.index: one for one in index.ancestors(60) if one.op in _DRAWS})
    return found
