"""Models: the root modules the script calls, the names of their parameters, and whether those move."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.aside import is_capturing, transform
from stepscope.events.pristine import raw
from stepscope.events.quiet import quietly
from stepscope.record import construction
from stepscope.record.sites import site_at
from stepscope.record.statistics import local_of
from stepscope.record.watch.nonzero import are_nonzero
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.events import Installed
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.step import Site

__all__ = ["Model", "Models"]

_SAMPLE = 64
_LOOKS = 12
_MOST = 32
_NODES = 2000
_MARKED_AT = frozenset((10, 20, 30, 50, 100, 200, 300, 500, 1000))
_KEEP = 4
_KEEP_BYTES = 64 * 2**20
"""Of the latest small models the parts are kept, so that rules can still look at one that `main()` has let go."""


class Model:
    """A root module."""

    def __init__(self, module: Any, number: int) -> None:
        self.ref = weakref.ref(module)
        self.number = number
        self.type = type(module).__name__
        self.held: dict[str, Any] | None = None
        """Of a small model: what it consists of, so that rules can look at it when `main()` has let it go."""
        self._stand_in: Any = None
        self.calls = 0
        self.calls_with_grad = 0
        self.first_visit: Visit | None = None

    @property
    def module(self) -> Any:
        """The module, or what it left behind; None if nothing is left."""
        alive = self.ref()
        if alive is None and self.held is not None:
            alive = self._stand_in = self._stand_in or stand_in_for(self.type, self.held)
        return alive


class _Mark:
    """A parameter as it was: its version, and some of its values."""

    __slots__ = ("grads", "looks", "ref", "values", "version")

    def __init__(self, parameter: Any) -> None:
        self.ref = weakref.ref(parameter)
        self.version = parameter._version
        self.values = _some_values(parameter)
        self.grads = 0
        """In how many backwards it got a gradient that is not zero (counted for the first ones)."""
        self.looks = 0


class Models(Witness):
    """`run.models`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.roots: list[Model] = []
        self._by_id: weakref.WeakKeyDictionary[Any, Model] = weakref.WeakKeyDictionary()
        self._names: dict[int, tuple[Any, str]] = {}
        self._marks: dict[int, _Mark] = {}
        self._young: list[_Mark] = []
        self._loose: list[Any] = []
        self._known = (-1, -1)
        self._marking = 0
        self._loaded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kept: deque[Model] = deque()

    def install(self, installed: Installed) -> None:
        watching = construction.watch()
        watching.__enter__()
        installed.add(lambda: watching.__exit__(None, None, None))
        installed.after("torch.nn:Module.load_state_dict", "following load_state_dict", self._note_loaded)

    def _note_loaded(self, frame: Any, result: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            self._loaded.update(module.modules())

    def was_loaded(self, module: Any) -> bool:
        """Whether the script has loaded weights into this module (it is not as it was initialised)."""
        return module in self._loaded

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        model = self._by_id.get(module)
        if model is None:
            model = self._by_id[module] = Model(module, len(self.roots))
            model.first_visit = visit
            self.roots.append(model)
            self._learn_names(module)
            if sum(p.numel() * p.element_size() for p in module.parameters()) <= _KEEP_BYTES:
                self._hold(model, module)
        model.calls += 1
        model.calls_with_grad += visit.grad

    def _hold(self, model: Model, module: Any) -> None:
        """Its parts, not itself: whoever counts references to it, or waits for its end, must not notice."""
        model.held = module.__dict__
        self._kept.append(model)
        if len(self._kept) > _KEEP:
            self._kept.popleft().held = None

    def _learn_names(self, module: Any) -> None:
        for name, parameter in module.named_parameters():
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
                for parameter in self.all_parameters():
                    self._mark(parameter)

    def backward_done(self, backward: Backward) -> None:
        if not self._young:
            return
        with quietly():
            alive = [(mark, parameter) for mark in self._young if (parameter := mark.ref()) is not None]
            reached = [(mark, parameter.grad) for mark, parameter in alive if parameter.grad is not None]
            for (mark, _), found in zip(reached, are_nonzero([grad for _, grad in reached]), strict=True):
                mark.grads += found
        for mark in self._young:
            mark.looks += 1
        self._young = [mark for mark in self._young if mark.looks < _LOOKS]

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

    def _mark(self, parameter: Any) -> None:
        known = self._marks.get(id(parameter))
        if known is None or known.ref() is not parameter:
            mark = self._marks[id(parameter)] = _Mark(parameter)
            self._young.append(mark)

    # What rules ask

    def known(self, module: Any) -> Model | None:
        """The root module that this is, if it has been called."""
        return self._by_id.get(module)

    def all_parameters(self) -> Iterator[Any]:
        """Every parameter of every live root module and optimizer (and loose tensors that are trained), each once."""
        seen: set[int] = set()
        modules = (model.module for model in self.roots)
        of_modules = (p for module in modules if module is not None for p in module.parameters())
        of_optimizers = (
            p for made in self.watcher.optimizers.made for ref in made.parameters if (p := ref()) is not None
        )
        loose = (p for ref in self._loose if (p := ref()) is not None)
        for parameter in (*of_modules, *of_optimizers, *loose):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield parameter

    def name_of(self, parameter: Any) -> str:
        known = self._names.get(id(parameter))
        if known is not None and known[0]() is parameter:
            return known[1]
        return "a tensor of shape " + "x".join(map(str, parameter.shape))

    def grads_seen(self, parameter: Any) -> int:
        """In how many of the first dozen backwards after it was first seen it got a gradient other than zero."""
        mark = self._marks.get(id(parameter))
        return mark.grads if mark is not None and mark.ref() is parameter else 0

    def unchanged(self, parameter: Any) -> bool:
        """Whether it still is what it was when first marked: nothing has written to it."""
        mark = self._marks.get(id(parameter))
        if mark is None or mark.ref() is not parameter:
            return False
        if parameter is None or mark.version != parameter._version:
            return False
        with quietly():
            now = _some_values(parameter)
            return mark.values == now if isinstance(now, bytes) else bool(raw.equal(mark.values, now))

    def owner_of(self, parameter: Any) -> tuple[Any, str] | None:
        """The module that holds it and its path inside its root."""
        return self.owners().get(id(parameter))

    def owners(self) -> dict[int, tuple[Any, str]]:
        """`owner_of` every parameter of the models, by its id."""
        found: dict[int, tuple[Any, str]] = {}
        for model in self.roots:
            module = model.module
            for path, part in () if module is None else module.named_modules():
                for parameter in part._parameters.values():
                    found.setdefault(id(parameter), (part, path))
        return found

    def made_at(self, module: Any) -> Site | None:
        """Where a module was constructed."""
        place = construction._places.get(module)
        return None if place is None else site_at(place)


def stand_in_for(kind: str, parts: dict[str, Any]) -> Any:
    """A module of the same name that consists of the same parts. Not of the same class: its `__del__` is the user's."""
    stand_in = type(kind, (torch.nn.Module,), {})()
    stand_in.__dict__.update(parts)
    return stand_in


def _some_values(parameter: Any) -> Any:
    """On a CPU as bytes: a script that counts its tensors finds none of ours. Elsewhere asking would mean waiting."""
    local = local_of(parameter)
    flat = raw.detach(parameter if local is None else local).reshape(-1)
    some = raw.clone(flat[:: max(1, flat.numel() // _SAMPLE)][:_SAMPLE])
    return raw.numpy(some.view(torch.uint8)).tobytes() if some.device.type == "cpu" and some.numel() else some
