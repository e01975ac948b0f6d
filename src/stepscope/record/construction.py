"""Where each module was constructed.

While `watch()` is on, every module made remembers the line of the user's code that made it: exact, and cheap enough to
leave on while a script builds its model. Without it the line is read off the source of the parent's `__init__`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from stepscope import fence
from stepscope.events import Installed, caller
from stepscope.record.sites import Spot, place_of, site_at
from stepscope.record.source import assignments_of
from stepscope.record.structure import Seen, look
from stepscope.records.step import Site

_places: weakref.WeakKeyDictionary[Any, Spot] = weakref.WeakKeyDictionary()


@contextmanager
def watch(on_layer: Callable[[Any, Spot], None] | None = None) -> Iterator[None]:
    """Remember where modules are made, for as long as the `with` block runs; `on_layer` hears of each.

    with construction.watch():
        model = Net()
    """
    installed = Installed()
    installed.wrap("torch.nn:Module.__init__", functools.partial(_layer, on_layer))
    try:
        yield
    finally:
        installed.remove()


def _layer(on_layer: Callable[[Any, Spot], None] | None, initialize: Any) -> Any:
    @functools.wraps(initialize)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        initialize(self, *args, **kwargs)
        _remember(self, caller(), on_layer)

    return __init__


@fence.fenced("remembering where a module was made")
def _remember(module: Any, frame: Any, on_layer: Callable[[Any, Spot], None] | None) -> None:
    own_hash: Any = type(module).__hash__
    if own_hash is not torch.nn.Module.__hash__:  # torchmetrics: by its state, which is not there yet
        return
    # Frames of the module's own __init__ (and its bases') are inside it, not where it was made.
    while frame is not None and frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is module:
        frame = frame.f_back
    place = place_of(frame)
    if place is not None:
        _places[module] = place
        if on_layer is not None:
            on_layer(module, place)


def roots_made() -> list[tuple[Any, Site]]:
    """The modules that were made and are in no other, with where that was."""
    made = list(_places.items())
    inside = {id(child) for module, _ in made for child in module._modules.values()}
    return [(module, site_at(spot)) for module, spot in made if id(module) not in inside]


def construction_sites(root: Any) -> dict[str, Site]:
    """Path -> where in the user's source that module, parameter or buffer was made; unknown ones are left out."""
    return sites_in(look(root), exact_sites(root))


@fence.fenced("finding where modules were constructed", default={})
def exact_sites(root: Any) -> dict[str, Site]:
    """Path -> where a module was made, for those made while `watch()` was on."""
    if not _places:
        return {}
    found = {path: _places.get(module) for path, module in root.named_modules()}
    return {path: site_at(place) for path, place in found.items() if place is not None}


def sites_in(root: Seen, exact: dict[str, Site]) -> dict[str, Site]:
    """The exact ones, and what the source says of the others."""
    found = dict(exact)
    _read_from_source(root, "", found, set())
    return found


def _read_from_source(module: Seen, path: str, found: dict[str, Site], seen: set[Seen]) -> None:
    """Fill the gaps: a child is made where its parent's class assigns it, items where their container is."""
    if module in seen:
        return
    seen.add(module)
    places = assignments_of(module.kind)
    own = found.get(path)
    if places or own is not None:
        for name in (*module.parameters, *module.buffers):  # a torch layer makes its own: they come from its line
            site = places.get(name) or own
            if site is not None:
                found[f"{path}.{name}" if path else name] = site
    for name, child in module.children.items():
        where = f"{path}.{name}" if path else name
        if where not in found:
            site = places.get(name)
            if site is None and issubclass(module.kind, _CONTAINERS):
                site = found.get(path)
            if site is not None:
                found[where] = site
        _read_from_source(child, where, found, seen)


_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
