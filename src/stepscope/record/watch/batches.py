"""Batches: what models are fed, by a loader or by hand, in training and in evaluation, and which rows are in both."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.events.quiet import quietly
from stepscope.record.arguments import tensors_in
from stepscope.record.watch.fetch import can_fetch, here, is_far
from stepscope.record.watch.looks import Allowance, Look, is_plain, look_at, row_marks
from stepscope.record.watch.places import own_places
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.watch.loaders import Loader
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["Batches", "Diet", "Evaluated", "Fed"]

_LOOKS = 6
_MOST_ROWS = 40_000
_KEPT = 400
_FIRST = 60
_PLACES = 40
_FEW_ROWS = 2
_KNOWN, _SELDOM = 40, 16
_EACH_FAR, _SELDOM_FAR = 40, 10


class Fed:
    """One call of a model that has parameters."""

    __slots__ = (
        "asked",
        "grad",
        "graph",
        "inputs",
        "loader",
        "look",
        "marks",
        "missed",
        "model",
        "origin",
        "step",
        "training",
        "visit",
    )

    def __init__(self, visit: Visit, model: Diet) -> None:
        self.visit = visit
        self.model = model
        self.step = visit.step
        self.grad, self.training = visit.grad, visit.training
        self.asked = False
        """An input asks for a gradient."""
        self.graph = False
        """Its result has a graph, and no input asks for a gradient."""
        self.inputs: list[Any] = []
        """Weak references to the tensors it was given."""
        self.origin: Origin | None = None
        """Of the largest of them that no gradient flows into: the data."""
        self.look: Look | None = None
        self.marks: list[int] = []
        """One number for each row of the data; equal rows have equal numbers."""
        self.missed = False
        """There was no time to look at its rows."""
        self.loader: Loader | None = None


class Evaluated:
    """The calls of one model from one place, on one loader's batches (or on none), that train nothing."""

    def __init__(self, places: list[Place], loader: Loader | None) -> None:
        self.places = places
        """Where it was called, from the inside out."""
        self.loader = loader
        self.calls = 0
        self.rows: set[int] = set()
        self.drawn = 0
        self.repeats = 0
        """Rows that were twice in one call."""
        self.seen: set[int] = set()
        """Those of the rows on which this model had been trained before."""
        self.origin: Origin | None = None
        self.look: Look | None = None


class Diet:
    """What one model was fed."""

    def __init__(self, module: Any) -> None:
        self.ref = weakref.ref(module)
        self.type = type(module).__name__
        self.trained: set[int] = set()
        """Marks of the rows it was trained on."""
        self.trained_calls = 0
        self.missed = 0
        """Those whose rows there was no time to look at: they may be any rows."""
        self.repeats = 0
        """Rows that were twice in one training batch."""
        self.rows = 0
        self.evaluated: dict[Any, Evaluated] = {}
        self.origin: Origin | None = None
        """Of the data it was first trained on."""
        self.loaders: list[Loader] = []
        self.places: list[Place] = []
        self.idle: dict[Place, int] = {}
        """Calls in eval mode that built a graph which no backward used, by place."""
        self.nothing_new = {True: 0, False: 0}
        """How many calls in a row (in training, in evaluation) brought no row that was not known."""

    def note_new(self, training: bool, new: bool) -> None:
        self.nothing_new[training] = 0 if new else self.nothing_new[training] + 1


class Batches(Witness):
    """`run.batches`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.diets: list[Diet] = []
        self.first: list[Fed] = []
        """The first calls whose result went into a backward."""
        self.pending: list[Fed] = []
        """Calls with gradients on since the last backward."""
        self.bad: Fed | None = None
        """The first call with a NaN or an infinity in its data."""
        self._known: weakref.WeakKeyDictionary[Any, Diet | None] = weakref.WeakKeyDictionary()
        self._allowance = Allowance(0.25)
        self._looks: dict[Any, int] = {}
        self._running: Fed | None = None

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        self._running = None
        diet = self._diet(module)
        if diet is None:
            return
        fed = self._running = Fed(visit, diet)
        tensors = tensors_in((args, kwargs))
        fed.inputs = [weakref.ref(tensor) for tensor in tensors]
        fed.asked = any(t.requires_grad for t in tensors)
        data = [t for t in tensors if not t.requires_grad and t.ndim and is_plain(t)]
        if data:
            tensor = max(data, key=lambda one: int(one.numel()))
            fed.origin = self.watcher.trail.known(tensor)
            fed.loader = self._loader_of(fed.origin)
            fed.missed = not (self._allowance.left() and can_fetch(tensor)) or self._is_left_out(fed, tensor)
            if not fed.missed:
                with self._allowance, quietly():
                    self._look(fed, tensor)
        if visit.grad:  # a model may compute its loss itself, so it is there before the call is over
            self.pending.append(fed)
            if len(self.pending) > _KEPT:
                del self.pending[0]

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        fed, self._running = self._running, None
        if fed is None or fed.visit is not visit:
            return
        fed.graph = not fed.asked and any(t.requires_grad for t in tensors_in(result))
        if not visit.grad or not visit.training:
            self._evaluated(fed)

    def _diet(self, module: Any) -> Diet | None:
        if module not in self._known:
            has_some = next(iter(module.parameters()), None) is not None
            self._known[module] = Diet(module) if has_some else None
            if has_some:
                self.diets.append(self._known[module])  # type: ignore[arg-type]
        return self._known[module]

    def trains_on(self, loader: Loader) -> bool:
        """Whether a model was trained on batches of this loader (of several that take turns, too)."""
        return loader.is_training or any(loader in diet.loaders for diet in self.diets)

    def evaluates(self, loader: Loader) -> bool:
        """Whether a model was called on batches of this loader without training."""
        return any(found.loader is loader for diet in self.diets for found in diet.evaluated.values())

    def _is_left_out(self, fed: Fed, tensor: Any) -> bool:
        """Of the calls that train on a device, which has to be waited for."""
        calls = fed.model.trained_calls
        return is_far(tensor) and fed.grad and fed.training and calls > _EACH_FAR and calls % _SELDOM_FAR != 0

    def _look(self, fed: Fed, tensor: Any) -> None:
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
        diet = fed.model
        known = diet.nothing_new[fed.grad and fed.training]
        if tensor.shape[0] >= _FEW_ROWS and diet.rows < _MOST_ROWS and (known < _KNOWN or count % _SELDOM == 0):
            fed.marks = row_marks(tensor)

    def _loader_of(self, origin: Origin | None) -> Loader | None:
        if origin is None:
            current = self.watcher.loaders.current
            return current if not self.watcher.trail.on else None
        found = next((one for one in origin.ancestors(60) if one.loader is not None), None)
        return None if found is None else found.loader

    def _evaluated(self, fed: Fed) -> None:
        diet = fed.model
        if not fed.marks:
            return
        number = None if fed.loader is None else fed.loader.number
        places = own_places()
        key = (tuple(places[:3]), number)
        evaluated = diet.evaluated.get(key)
        if evaluated is None:
            if len(diet.evaluated) >= _PLACES:
                return
            evaluated = diet.evaluated[key] = Evaluated(places, fed.loader)
            evaluated.origin, evaluated.look = fed.origin, fed.look
        evaluated.calls += 1
        if len(evaluated.rows) < _MOST_ROWS:
            before = len(evaluated.rows)
            evaluated.drawn += len(fed.marks)
            evaluated.repeats += len(fed.marks) - len(set(fed.marks))
            evaluated.rows.update(fed.marks)
            diet.note_new(False, len(evaluated.rows) > before)
            evaluated.seen.update(diet.trained.intersection(fed.marks))

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

    def _trained(self, fed: Fed) -> None:
        diet = fed.model
        diet.trained_calls += 1
        diet.missed += fed.missed
        if len(self.first) < _FIRST:
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
            diet.note_new(True, not distinct <= diet.trained)
            diet.trained |= distinct
