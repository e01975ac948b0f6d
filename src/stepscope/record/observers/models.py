"""Models: the root modules the script calls, the names of their parameters, and whether those move."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.aside import is_capturing, transform
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.models import Model, Models
from stepscope.record import construction
from stepscope.record.observers.fetch import is_small
from stepscope.record.observers.gradients import have_gradients
from stepscope.record.observers.module_records import live
from stepscope.record.observers.module_walk import parameters_of, parts_of
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import local_of

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.modules import Parameter
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

__all__ = ["LiveModel", "ModelObserver"]

_SAMPLE = 64
_LOOKS = 12
_MOST = 32
_NODES = 2000
_MARKED_AT = frozenset((10, 20, 30, 50, 100, 200, 300, 500, 1000))
_KEEP = 4
_KEEP_BYTES = 64 * 2**20
"""Of the latest small models the parts are kept, so that rules can still look at one that `main()` has let go."""


class LiveModel(Model):
    """A root module that may still be there."""

    _held: dict[str, Any] | None = None
    """Of a small model: what it consists of, so that it can be looked at when `main()` has let it go."""
    _stand_in: Any = None

    def live(self) -> Any:
        """The module, or what it left behind; None if nothing is left."""
        alive = live(self.module)
        if alive is None and self._held is not None:
            alive = self._stand_in = self._stand_in or stand_in_for(self.type, self._held)
        return alive


class _Mark:
    """A parameter as it was: its version, and some of its values."""

    __slots__ = ("grads", "looks", "ref", "values", "version")

    def __init__(self, parameter: Any, values: Any) -> None:
        self.ref = weakref.ref(parameter)
        self.version = parameter._version
        self.values = values
        self.grads = 0
        """In how many backwards it got a gradient that is not zero (counted for the first ones)."""
        self.looks = 0


class ModelObserver(Observer, Models):
    roots: list[LiveModel]  # type: ignore[assignment]

    def __init__(self, watcher: Watcher) -> None:
        Models.__init__(self)
        super().__init__(watcher)
        self._by_id: weakref.WeakKeyDictionary[Any, LiveModel] = weakref.WeakKeyDictionary()
        self._names: dict[int, tuple[Any, str]] = {}
        self._marks: dict[int, _Mark] = {}
        self._young: list[_Mark] = []
        self._loose: list[Any] = []
        self._known = (-1, -1)
        self._marking = 0
        self._loaded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kept: deque[LiveModel] = deque()

    def install(self, installed: Installed) -> None:
        watching = construction.watch(self._note_layer)
        watching.__enter__()
        installed.add(lambda: watching.__exit__(None, None, None))
        installed.after("torch.nn:Module.load_state_dict", "following load_state_dict", self._note_loaded)

    def _note_layer(self, module: Any, spot: Any) -> None:
        """A layer with weights is made while the script trains: a head is replaced, a stage of training begins."""
        if self.watcher.step and hasattr(type(module), "reset_parameters") and self.watcher.listens():
            self.watcher.governor.new("a layer made during training", spot)

    def resume(self) -> None:
        """What the script has added to its models since the last look is looked at now."""
        self._marking = max(self._marking, 1)

    def _note_loaded(self, frame: Any, result: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            self._loaded.update(module.modules())

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        model = self._by_id.get(module)
        if model is None:
            model = self._by_id[module] = LiveModel(self.watcher.module_records.of(module), len(self.roots))
            model.first_visit = visit
            self.roots.append(model)
            named = parameters_of(module)
            self._learn_names(named)
            if sum(p.numel() * p.element_size() for _, p in named) <= _KEEP_BYTES:
                self._hold(model, module)
        model.calls += 1
        model.calls_with_grad += visit.grad

    def _hold(self, model: LiveModel, module: Any) -> None:
        """Its parts, not itself: whoever counts references to it, or waits for its end, must not notice."""
        model._held = module.__dict__
        self._kept.append(model)
        if len(self._kept) > _KEEP:
            self._kept.popleft()._held = None

    def _learn_names(self, named: list[tuple[str, Any]]) -> None:
        for name, parameter in named:
            known = self._names.get(id(parameter))
            if known is None or known[0]() is not parameter or len(known[1]) > len(name):
                self._names[id(parameter)] = (weakref.ref(parameter), name)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if backward.index < 3 and not self.roots:
            self._find_loose(roots)
        known = (min(len(self.roots), _MOST), min(len(self.watcher.optimizers.made), _MOST))
        if known != self._known:  # a model or an optimizer is new: a stage of training begins
            self._known, self._marking = known, 3
        if transform():  # parameters are stood in for, and what is computed has no plain values
            return
        self._marking -= 1
        if (self._marking >= 0 or backward.index in _MARKED_AT) and not is_capturing():
            with quietly():
                self._mark([p for p in self.all_parameters() if not self._is_marked(p)])

    def backward_done(self, backward: Backward) -> None:
        if not self._young:
            return
        with quietly():
            alive = [(mark, parameter) for mark in self._young if (parameter := mark.ref()) is not None]
            reached = [(mark, parameter) for mark, parameter in alive if parameter.grad is not None]
            for (mark, _), found in zip(reached, have_gradients([one for _, one in reached]), strict=True):
                mark.grads += found
        for mark, parameter in alive:
            mark.looks += parameter.requires_grad  # what is frozen may be unfrozen later
        self._young = [mark for mark, _ in alive if mark.looks < _LOOKS]

    def _find_loose(self, roots: list[Any]) -> None:
        """Tensors that gather gradients and belong to no module: a model written by hand."""
        queue = [root.grad_fn for root in roots if getattr(root, "grad_fn", None) is not None]
        seen = set(queue)
        for node in queue:
            leaf = getattr(node, "variable", None)
            if leaf is not None and not any(ref() is leaf for ref in self._loose):
                self._loose.append(weakref.ref(leaf))
            if len(seen) > _NODES:
                return
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    queue.append(following)

    def _is_marked(self, parameter: Any) -> bool:
        known = self._marks.get(id(parameter))
        return known is not None and known.ref() is parameter

    def _mark(self, parameters: list[Any]) -> None:
        for parameter, values in zip(parameters, _samples(parameters), strict=True):
            mark = self._marks[id(parameter)] = _Mark(parameter, values)
            self._young.append(mark)

    # What observers ask

    def known(self, module: Any) -> LiveModel | None:
        """The root module that this is, if it has been called."""
        return self._by_id.get(module)

    def all_parameters(self) -> list[Any]:
        """Every parameter of every live root module and optimizer (and loose tensors that are trained), each once."""
        found: dict[int, Any] = {}
        for model in self.roots:
            module = model.live()
            if module is not None:
                found |= {id(one): one for _, one in parameters_of(module) if id(one) not in found}
        for made in self.watcher.optimizers.made:
            found |= {id(one): one for one in made.alive() if id(one) not in found}
        found |= {id(one): one for ref in self._loose if (one := ref()) is not None and id(one) not in found}
        return list(found.values())

    def name_of(self, parameter: Any) -> str:
        known = self._names.get(id(parameter))
        if known is not None and known[0]() is parameter:
            return known[1]
        return "a tensor of shape " + "x".join(map(str, parameter.shape))

    def holders(self) -> dict[int, tuple[Any, str]]:
        """The module that holds a parameter and its path inside its root, by the parameter's id."""
        found: dict[int, tuple[Any, str]] = {}
        for model in self.roots:
            module = model.live()
            for path, part in () if module is None else parts_of(module):
                for parameter in part._parameters.values():
                    found.setdefault(id(parameter), (part, path))
        return found

    # How things stand when rules are asked

    def settle(self) -> None:
        nets, origin_of = self.watcher.module_records, self.watcher.tensor_history.known
        for model in self.roots:
            module = model.live()
            model.module.alive = module is not None
            if module is not None:
                nets.refresh(model.module, module, origin_of)
        done: set[int] = {id(model.module) for model in self.roots}
        while new := [(record, module) for record, module in nets.alive() if id(record) not in done]:
            for record, module in new:
                done.add(id(record))
                nets.refresh(record, module, origin_of)
                record.loaded = module in self._loaded
        for model in self.roots:
            root = live(model.module)
            model.module.loaded = root is not None and root in self._loaded
            for path, part in model.module.named_modules():
                part.path = part.path or path
        self.parameters = [nets.parameter(tensor) for tensor in self.all_parameters()]
        with quietly():
            for parameter, tensor in nets.parameters_alive():
                nets.refresh_parameter(parameter, tensor)
                self._judge(parameter, tensor)

    def _judge(self, record: Parameter, parameter: Any) -> None:
        """Its name, and what became of it since it was marked."""
        known, mark = self._names.get(id(parameter)), self._marks.get(id(parameter))
        if known is not None and known[0]() is parameter:
            record.name = known[1]
        if mark is not None and mark.ref() is parameter and parameter is not None:
            record.gradients = mark.grads
            record.changed = mark.version != parameter._version or not _is_still(parameter, mark.values)


def _is_still(parameter: Any, before: Any) -> bool:
    if parameter.is_meta:
        return True
    now = _some_values(parameter)
    return before == now if isinstance(now, bytes) else bool(raw.equal(before, now))


def stand_in_for(kind: str, parts: dict[str, Any]) -> Any:
    """A module of the same name that consists of the same parts. Not of the same class: its `__del__` is the user's."""
    stand_in = type(kind, (torch.nn.Module,), {})()
    stand_in.__dict__.update(parts)
    return stand_in


def _samples(parameters: list[Any]) -> list[Any]:
    """`_some_values` of each; of small plain ones on a CPU, one copy is made of all."""
    found: list[Any] = [None] * len(parameters)
    groups: dict[Any, list[int]] = {}
    for number, parameter in enumerate(parameters):
        if type(parameter) is torch.nn.Parameter and is_small(parameter):
            groups.setdefault(parameter.dtype, []).append(number)
        else:
            found[number] = _some_values(parameter)
    for numbers in groups.values():
        flat = raw.cat([parameters[number].reshape(-1) for number in numbers])
        size, values = flat.element_size(), raw.numpy(flat.view(torch.uint8))
        first = 0
        for number in numbers:
            count = parameters[number].numel()
            own = values[first : first + count * size].reshape(count, size)
            found[number] = own[:: max(1, count // _SAMPLE)][:_SAMPLE].tobytes()
            first += count * size
    return found


def _some_values(parameter: Any) -> Any:
    """On a CPU as bytes: a script that counts its tensors finds none of ours. Elsewhere asking would mean waiting."""
    local = local_of(parameter)
    flat = raw.detach(parameter if local is None else local).reshape(-1)
    some = raw.clone(flat[:: max(1, flat.numel() // _SAMPLE)][:_SAMPLE])
    return raw.numpy(some.view(torch.uint8)).tobytes() if some.device.type == "cpu" and some.numel() else some
