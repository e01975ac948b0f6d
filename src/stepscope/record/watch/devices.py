"""Devices: which tensors the script moved to its device, and where one that it did not move meets one that it did.

On a machine without an accelerator `x.to(device)` changes nothing, but it is seen. So a tensor that was never moved
meeting one that was is found anywhere.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.record.sites import Place, site_at
from stepscope.record.watch.origin import Origin
from stepscope.record.watch.places import own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.record.restore import Installed
    from stepscope.record.watch.loaders import Loader
    from stepscope.record.watch.trail import Call
    from stepscope.record.watch.visits import Visit
    from stepscope.record.watch.watcher import Watcher

__all__ = ["LOCAL", "MOVED", "Devices", "Meeting"]

MOVED, LOCAL = "moved", "local"

_MOST = 50
# May mix devices, or wants one argument on the CPU.
_MIXES = frozenset((
    "to", "copy_", "type_as", "cpu", "cuda", "_pack_padded_sequence", "ctc_loss", "equal", "allclose", "setitem_",
    "result_type", "backward", "pin_memory", "item", "tolist", "numpy", "save", "expand_as", "view_as", "reshape_as",
))  # fmt: skip


class Meeting:
    """An op that read a tensor of the chosen device and one that was never moved there."""

    __slots__ = ("attribute", "local", "moved", "op", "place", "step", "visit")

    def __init__(self, call: Call, local: Origin, moved: Origin, attribute: tuple[Any, str] | None, step: int) -> None:
        self.op = call.name
        self.place = call.place
        self.visit = call.visit
        self.local = local
        self.moved = moved
        self.attribute = attribute
        """(module, name) when the unmoved tensor is a plain attribute of a module."""
        self.step = step


class Devices(Witness):
    """`run.devices`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.meetings: list[Meeting] = []
        self.chosen: Place | None = None
        """Where the script first moved something to a device of its choice."""
        self._seen: set[tuple[Place | None, str]] = set()
        self._texts: dict[Place, str] = {}

    def install(self, installed: Installed) -> None:
        move, witness = torch.nn.Module.to, self

        def to(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = move(self, *args, **kwargs)
            witness._module_moved(self, args, kwargs, sys._getframe(1))
            return result

        to.__doc__ = move.__doc__
        to.__dict__["__wrapped__"] = move
        installed.patch(torch.nn.Module, "to", to)

    @fence.fenced("following a module to its device")
    def _module_moved(self, module: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if not self.watcher.listens() or _device_in(args, kwargs) is None:
            return
        place = own_place(frame)
        text = "" if place is None else self._text(place)
        if '"cpu"' in text or "'cpu'" in text:
            return
        self.chosen = self.chosen or place
        for tensor in (*module.parameters(), *module.buffers()):
            self.watcher.trail.of(tensor).home = MOVED

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        """Buffers and parameters made after the move (or replaced by it) go with their module."""
        if not self.watcher.trail.on:
            return
        known = [self.watcher.trail.of(tensor) for tensor in (*module.parameters(), *module.buffers())]
        for origin in known:
            if origin.home is None and origin.kind != "parameter":
                origin.home = MOVED if any(o.home == MOVED for o in known) else None

    def batch(self, loader: Loader, batch: Any) -> None:
        from stepscope.record.arguments import tensors_in

        for tensor in tensors_in(batch):
            origin = self.watcher.trail.known(tensor)
            if origin is not None and origin.home is None:
                made = origin.inputs[0].home if origin.inputs else None
                origin.home = MOVED if made == MOVED else LOCAL

    def op(self, call: Call) -> None:
        home = self._home(call)
        for tensor in call.outputs:
            origin = self.watcher.trail.known(tensor)
            if origin is not None and origin.kind != "parameter":
                origin.home = home
        if self.chosen is not None and home == MOVED and len(call.origins) > 1 and call.name not in _MIXES:
            self._look_for_a_stranger(call)

    def _home(self, call: Call) -> str | None:
        name = call.name
        if name in ("cpu", "cuda", "to", "type_as"):
            return self._home_of_moved(call)
        if call.kwargs.get("device") is not None:
            # In a library, or of another tensor (`device=x.device`): it goes along with whatever it meets.
            return self._choose(call.place) if self._names_a_device(call) else None
        if not call.origins:
            return None if _default_device() else LOCAL
        if any(origin.home == MOVED for origin in call.origins):
            return MOVED
        if any(origin.home is None and origin.shape for origin in call.origins):
            return None
        return LOCAL

    def _home_of_moved(self, call: Call) -> str | None:
        """What `.to(device)` gives. Where it changes nothing it gives the very same tensor, which is then both: what it
        was, for those who still use the old name, and moved. Such a tensor accuses nobody."""
        named = call.name == "cuda" or (call.name == "to" and _device_in(call.args, call.kwargs) is not None)
        if named and self._names_a_device(call):
            self._choose(call.place)
            return None if call.outputs and any(t is call.inputs[0] for t in call.outputs) else MOVED
        if named or call.name in ("cpu", "type_as") or len(call.origins) > 1:
            return None
        return _str(call.origins[0].home) if call.origins else None

    def _names_a_device(self, call: Call) -> bool:
        """Whether the user's own line names a device of its choice: not "cpu", and not another tensor's."""
        if call.place is None or not call.direct:
            return False
        text = self._text(call.place)
        return not ('"cpu"' in text or "'cpu'" in text or ".device" in text.replace("torch.device", ""))

    def _choose(self, place: Place | None) -> str:
        self.chosen = self.chosen or place
        return MOVED

    def _look_for_a_stranger(self, call: Call) -> None:
        moved = next((o for o in call.origins if o.home == MOVED), None)
        origins = call.origins
        if call.name == "getitem" and origins[0].home == MOVED:
            return  # an index may stay on the CPU
        for tensor, origin in zip(call.inputs, origins, strict=True):
            if origin.home != LOCAL or not origin.shape or moved is None:
                continue
            key = (call.place, origin.op or origin.kind)
            if key not in self._seen and len(self.meetings) < _MOST:
                self._seen.add(key)
                attribute = self._attribute(tensor, call.visit)
                self.meetings.append(Meeting(call, origin, moved, attribute, self.watcher.step))

    def _attribute(self, tensor: Any, visit: Visit | None) -> tuple[Any, str] | None:
        """Which running module has this very tensor (or what it is a view of) as a plain attribute."""
        base = tensor._base if tensor._base is not None else tensor
        while visit is not None:
            module = visit.module()
            for name, value in vars(module).items() if module is not None else ():
                if value is tensor or value is base:
                    return visit.module, name
            visit = visit.parent
        return None

    def _text(self, place: Place) -> str:
        """The expression at a place, as it is written."""
        known = self._texts.get(place)
        if known is None:
            site = site_at(place)
            last = site.end_line or site.line
            known = "".join(linecache.getline(site.file, line) for line in range(site.line, last + 1))
            if site.column is not None and site.end_column is not None and last == site.line:
                known = known[site.column : site.end_column]
            self._texts[place] = known
        return known


def _device_in(args: Any, kwargs: Any) -> Any:
    """The device among the arguments of `.to`, if one is named."""
    if "device" in kwargs:
        return kwargs["device"]
    for value in args:
        if isinstance(value, (torch.device, str)) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
    return None


def _default_device() -> bool:
    current = getattr(torch.utils, "_device", None)
    return getattr(current, "CURRENT_DEVICE", None) is not None


def _str(home: Any) -> str | None:
    return home if isinstance(home, str) else None
