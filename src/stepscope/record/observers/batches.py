"""Follows what models are fed, by a loader or by hand, in training and in evaluation, row by row."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.batches import Batches, Diet, Evaluated, Fed
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.fetch import can_fetch, here, is_far
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_places
from stepscope.record.observers.value_sample import Allowance, is_plain, look_at, row_marks, stretch_marks

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_LOOKS = 6
_MOST_ROWS = 40_000
_KEPT = 400
_FIRST = 60
_STRETCHED, _MOST_STRETCHES = 40, 200_000
_PLACES = 40
_FEW_ROWS = 2
_KNOWN, _SELDOM = 40, 16
_EACH_FAR, _SELDOM_FAR = 40, 10


class LiveFed(Fed):
    """A call, with what it was given as long as that is there."""

    __slots__ = ("_inputs", "_marks", "_stretches")

    def __init__(self, visit: Visit, model: Diet) -> None:
        super().__init__(visit, model)
        self._inputs: list[Any] = []
        """Weak references to the tensors it was given."""
        self._marks: list[int] = []
        """One number for each row of the data; equal rows have equal numbers."""
        self._stretches: list[list[int]] = []
        """Of each row that is a series: one number for each stretch of half its length."""

    @property
    def marks(self) -> list[int]:
        return self._marks

    def inputs(self) -> list[Any]:
        """The tensors it was given, as far as they are there."""
        return [tensor for ref in self._inputs if (tensor := ref()) is not None]

    def sum_up(self) -> None:
        """Write down what the marks of its rows tell."""
        marks = self._marks
        self.rows, self.distinct = len(marks), len(set(marks))
        if marks:
            self.mark, self.alike = marks[0], max(marks.count(mark) for mark in set(marks[:8]))


class LiveEvaluated(Evaluated):
    __slots__ = ("_rows", "_seen")

    def note_stretches(self, rows: list[list[int]], trained: set[int]) -> None:
        """The first or the last half of a row lies inside a row of the training."""
        self.windows += len(rows)
        self.overlapping += sum(row[0] in trained or row[-1] in trained for row in rows)

    def __init__(self, places: list[Place], loader: Loader | None) -> None:
        super().__init__(places, loader)
        self._rows: set[int] = set()
        self._seen: set[int] = set()

    def note(self, marks: list[int], trained: set[int]) -> bool:
        """One more call on these rows, when the model had been trained on those; whether there were new ones."""
        self.repeats += len(marks) - len(set(marks))
        self._rows.update(marks)
        self._seen.update(trained.intersection(marks))
        is_new = len(self._rows) > self.rows
        self.rows, self.seen = len(self._rows), len(self._seen)
        return is_new


class LiveDiet(Diet):
    __slots__ = ("_evaluated", "_nothing_new", "_stretches", "_trained")

    def __init__(self, type: str) -> None:
        super().__init__(type)
        self._trained: set[int] = set()
        """Marks of the rows it was trained on."""
        self._stretches: set[int] = set()
        """Marks of the stretches inside those rows that begin neither with them nor end with them."""
        self._evaluated: dict[tuple[tuple[Place, ...], int | None], LiveEvaluated] = {}
        self._nothing_new = {True: 0, False: 0}
        """How many calls in a row (in training, in evaluation) brought no row that was not known."""

    def note_new(self, training: bool, new: bool) -> None:
        self._nothing_new[training] = 0 if new else self._nothing_new[training] + 1

    def sum_up(self) -> None:
        """Write down which rows of the training were not evaluated."""
        for evaluated in self._evaluated.values():
            evaluated.left_out = len(self._trained - evaluated._rows)


class BatchObserver(Observer, Batches):
    def __init__(self, watcher: Watcher) -> None:
        Batches.__init__(self)
        super().__init__(watcher)
        self.pending: list[LiveFed] = []
        """Calls with gradients on since the last backward."""
        self._known: weakref.WeakKeyDictionary[Any, LiveDiet | None] = weakref.WeakKeyDictionary()
        self._allowance = Allowance(0.25)
        self._looks: dict[Any, int] = {}
        self._running: tuple[LiveFed, LiveDiet] | None = None
        self._unseen = 0
        """How many updates were made while nobody looked closely."""
        self._rested: int | None = None
        """The update after which detailed watching ended; None while it lasts."""

    @property
    def running(self) -> LiveFed | None:
        """The call that has begun last, and is not over."""
        return None if self._running is None else self._running[0]

    def resume(self) -> None:
        self._unseen += self._gap()
        self._rested = None

    def rest(self) -> None:
        self._rested = self.watcher.step

    def _gap(self) -> int:
        return 0 if self._rested is None else self.watcher.step - self._rested

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        self._running = None
        diet = self._diet(module)
        if diet is None:
            return
        fed = LiveFed(visit, diet)
        self._running = fed, diet
        tensors = tensors_in((args, kwargs))
        fed._inputs = [weakref.ref(tensor) for tensor in tensors]
        fed.asked = any(t.requires_grad for t in tensors)
        data = [t for t in tensors if not t.requires_grad and t.ndim and is_plain(t)]
        if data:
            tensor = max(data, key=lambda one: int(one.numel()))
            fed.origin = self.watcher.tensor_history.known(tensor)
            fed.loader = self._loader_of(fed.origin)
            fed.missed = not (self._allowance.left() and can_fetch(tensor)) or _is_left_out(fed, tensor)
            if not fed.missed:
                with self._allowance, quietly():
                    self._look(fed, diet, tensor)
        if visit.grad:  # a model may compute its loss itself, so it is there before the call is over
            self.pending.append(fed)
            if len(self.pending) > _KEPT:
                del self.pending[0]

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        running, self._running = self._running, None
        if running is None or running[0].visit is not visit:
            return
        fed, diet = running
        fed.graph = not fed.asked and any(t.requires_grad for t in tensors_in(result))
        if not visit.grad or not visit.training:
            self._evaluated(fed, diet)

    def _diet(self, module: Any) -> LiveDiet | None:
        if module not in self._known:
            has_some = next(iter(module.parameters()), None) is not None
            diet = self._known[module] = LiveDiet(type(module).__name__) if has_some else None
            if diet is not None:
                self.diets.append(diet)
        return self._known[module]

    def _look(self, fed: LiveFed, diet: LiveDiet, tensor: Any) -> None:
        key = (fed.visit.place, fed.loader, fed.training)
        count = self._looks[key] = self._looks.get(key, 0) + 1
        # A sum says whether anything is NaN or infinite, in one pass.
        small = tensor.is_floating_point() and tensor.numel() <= 2**18 and self.bad is None and not is_far(tensor)
        if count <= _LOOKS and tensor.numel() <= 2**18:
            tensor = here(tensor)
        if count <= _LOOKS or (small and not bool(tensor.sum() * 0 == 0)):
            fed.look = look_at(tensor)
            if fed.look.nan and self.bad is None:
                self.bad = fed
        known = diet._nothing_new[fed.grad and fed.training]
        if tensor.shape[0] >= _FEW_ROWS and diet.rows < _MOST_ROWS and (known < _KNOWN or count % _SELDOM == 0):
            fed._marks = row_marks(tensor)
            if count <= _STRETCHED:
                marks = stretch_marks(tensor)
                fed._stretches = [] if marks is None else raw.tolist(marks)

    def _loader_of(self, origin: Origin | None) -> Loader | None:
        if origin is None:
            current = self.watcher.loaders.current
            return current if not self.watcher.tensor_history.on else None
        found = next((one for one in origin.ancestors(60) if one.loader is not None), None)
        return None if found is None else found.loader

    def _evaluated(self, fed: LiveFed, diet: LiveDiet) -> None:
        if not fed.marks:
            return
        number = None if fed.loader is None else fed.loader.number
        places = own_places()
        key = (tuple(places[:3]), number)
        evaluated = diet._evaluated.get(key)
        if evaluated is None:
            if len(diet._evaluated) >= _PLACES:
                return
            evaluated = diet._evaluated[key] = LiveEvaluated(places, fed.loader)
            diet.evaluated.append(evaluated)
            evaluated.origin, evaluated.look = fed.origin, fed.look
        evaluated.calls += 1
        evaluated.note_stretches(fed._stretches, diet._stretches)
        if evaluated.rows < _MOST_ROWS:
            seen = evaluated.seen
            is_new = evaluated.note(fed.marks, diet._trained)
            diet.note_new(False, is_new)
            if is_new or evaluated.seen > seen:
                evaluated.unseen = self._unseen + self._gap()

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if not backward.accumulates:  # gradients by themselves: whatever is pending may be what they are of
            self.pending.clear()
            return
        used = self._used(backward)
        for fed in self.pending:
            if fed.training if used is None else fed.visit in used:
                self._trained(fed)
            elif used is not None:
                self._idle(fed)
        self.pending.clear()

    def settle(self) -> None:
        for diet in self.diets:
            if isinstance(diet, LiveDiet):
                diet.sum_up()

    def finish(self) -> None:
        for fed in self.pending:
            self._idle(fed)
        self.pending.clear()

    def _idle(self, fed: Fed) -> None:
        place = fed.visit.place
        if fed.graph and not fed.training and place is not None:
            fed.model.idle[place] = fed.model.idle.get(place, 0) + 1

    def _used(self, backward: Backward) -> set[Visit] | None:
        """The calls this loss was computed from, where the trail has seen it."""
        if backward.origin is None or not self.pending or all(fed.visit.training for fed in self.pending):
            return None
        return {origin.visit.root for origin in backward.origin.ancestors(4000) if origin.visit is not None}

    def _trained(self, fed: LiveFed) -> None:
        diet = fed.model
        assert isinstance(diet, LiveDiet)
        diet.trained_calls += 1
        diet.missed += fed.missed
        if len(self.first) < _FIRST:
            fed.sum_up()
            self.first.append(fed)
        if diet.origin is None:
            diet.origin = fed.origin
            diet.places = [] if fed.visit.place is None else [fed.visit.place]
        if fed.loader is not None and fed.loader not in diet.loaders:
            diet.loaders.append(fed.loader)
        if fed.marks and diet.rows < _MOST_ROWS:
            diet.rows += len(fed.marks)
            distinct = set(fed.marks)
            diet.repeats += len(fed.marks) - len(distinct)
            diet.note_new(True, not distinct <= diet._trained)
            diet._trained |= distinct
            if len(diet._stretches) < _MOST_STRETCHES:
                diet._stretches.update(mark for row in fed._stretches for mark in row[1:-1])
            diet.trained = len(diet._trained)


def _is_left_out(fed: Fed, tensor: Any) -> bool:
    """Of the calls that train on a device, which has to be waited for."""
    calls = fed.model.trained_calls
    return is_far(tensor) and fed.grad and fed.training and calls > _EACH_FAR and calls % _SELDOM_FAR != 0
