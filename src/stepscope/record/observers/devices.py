"""Follows which tensors the script moved to its device, and where one that it did not move meets one that it did.

On a machine without an accelerator `x.to(device)` changes nothing, but it is seen. So a tensor that was never moved
meeting one that was is found anywhere.
"""

from __future__ import annotations

import linecache
import re
from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.devices import BOTH, LOCAL, MOVED, Devices, Meeting
from stepscope.evidence.origins import Origin
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.module_records import live
from stepscope.record.observers.module_walk import parts_of
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.result_use import fate_of_call
from stepscope.records.place import Place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.modules import Module
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_MOST = 50
_SETTINGS = re.compile(r"\b(self|args|cfg|config|opt|options|hparams|params|settings|trainer|conf|FLAGS)\.device\b")
# May mix devices, or wants one argument on the CPU.
_MIXES = frozenset((
    "to", "copy_", "type_as", "cpu", "cuda", "_pack_padded_sequence", "ctc_loss", "equal", "allclose", "setitem_",
    "result_type", "backward", "pin_memory", "item", "tolist", "numpy", "save", "expand_as", "view_as", "reshape_as",
))  # fmt: skip


class DeviceObserver(Observer, Devices):
    def __init__(self, watcher: Watcher) -> None:
        Devices.__init__(self)
        super().__init__(watcher)
        self._seen: set[tuple[Place | None, str, Place | None]] = set()
        self._kept: dict[Place, str] = {}
        self._texts: dict[Place, str] = {}

    def install(self, installed: Installed) -> None:
        installed.after("torch.nn:Module.to", "following a module to its device", self._module_moved)

    def _module_moved(self, frame: Any, result: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens() or _device_in(args, kwargs) is None:
            return
        if self.watcher.trainer.on_cpu:
            return
        place = own_place(frame)
        text = "" if place is None else self._text(place)
        if '"cpu"' in text or "'cpu'" in text:
            return
        self.chosen = self.chosen or place
        for tensor in (*module.parameters(), *module.buffers()):
            self.watcher.tensor_history.of(tensor).home = MOVED

    def resume(self) -> None:
        """While nobody looked, any of them may have been moved: on a CPU it is still the same tensor."""
        for origin in self.watcher.tensor_history.every():
            if origin.home == LOCAL and self.training_began is not None:
                origin.home = None

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        """Buffers and parameters made after the move (or replaced by it) go with their module."""
        self._training_begins()
        if not self.watcher.tensor_history.on:
            return
        of = self.watcher.tensor_history.of
        buffers = [of(one) for _, part in parts_of(module) for one in part._buffers.values() if one is not None]
        stray = [origin for origin in buffers if origin.home is None and origin.kind != "parameter"]
        if stray and any(one.home == MOVED for one in (*map(of, module.parameters()), *buffers)):
            for origin in stray:
                origin.home = MOVED

    def batch(self, loader: Loader, batch: Any) -> None:
        self._training_begins()
        for tensor in tensors_in(batch):
            origin = self.watcher.tensor_history.known(tensor)
            if origin is not None and origin.home is None:
                made = origin.inputs[0].home if origin.inputs else LOCAL
                origin.home = made if made in (MOVED, BOTH) else LOCAL

    def _training_begins(self) -> None:
        if self.training_began is None:
            self.training_began = self.watcher.tensor_history.ops

    def op(self, call: Call) -> None:
        home = self._home(call)
        for tensor in call.outputs:
            origin = self.watcher.tensor_history.known(tensor)
            if origin is not None and origin.kind != "parameter":
                origin.home = home
        if self.chosen is not None and len(call.origins) > 1 and call.name not in _MIXES:
            self._look_for_a_stranger(call)

    def op_failed(self, call: Call, error: BaseException) -> None:
        """On an accelerator the meeting is a crash: the devices are real ones then."""
        pairs = list(zip(call.inputs, call.origins, strict=True))
        there = [origin for tensor, origin in pairs if tensor.device.type not in ("cpu", "meta")]
        here = [origin for tensor, origin in pairs if tensor.device.type == "cpu" and origin.shape]
        if not there or not here:
            return
        self.chosen = self.chosen or call.place
        for older in here[0].ancestors():
            older.home = LOCAL if older.device == "cpu" else MOVED
        attribute = None if here[0].kind == "parameter" else self._attribute(here[0], call.visit)
        self.meetings.append(self._meeting(call, here[0], there[0], attribute))

    def _home(self, call: Call) -> str | None:
        name = call.name
        if name in ("cpu", "cuda", "to", "type_as"):
            return self._home_of_moved(call)
        if call.kwargs.get("device") is not None:
            # In a library, or of another tensor (`device=x.device`): it goes along with whatever it meets.
            return self._choose(call.place) if self._names_a_device(call) else None
        if not call.origins:
            return None if _default_device() else LOCAL
        homes = [origin.home for origin in call.origins]
        if name == "getitem":
            return _str(homes[0])  # an index may stay on the CPU
        if MOVED in homes:
            return MOVED
        if BOTH in homes:
            return BOTH
        if any(origin.home is None and origin.shape for origin in call.origins):
            return None
        return LOCAL

    def _home_of_moved(self, call: Call) -> str | None:
        """What `.to(device)` gives, by what becomes of it: dropped, the only name there is, or one of two."""
        named = call.name == "cuda" or (call.name == "to" and _device_in(call.args, call.kwargs) is not None)
        if named and self._names_a_device(call):
            self._choose(call.place)
            if not any(tensor is call.inputs[0] for tensor in call.outputs):
                return MOVED
            fate = self._fate(call.place)
            return {"dropped": _str(call.origins[0].home), "renamed": MOVED}.get(fate, BOTH)
        if named or call.name in ("cpu", "type_as") or len(call.origins) > 1:
            return None
        return _str(call.origins[0].home) if call.origins else None

    def _fate(self, place: Place | None) -> str:
        """What the line does with the moved tensor."""
        if place is None:
            return "shared"
        known = self._kept.get(place)
        if known is None:
            known = self._kept[place] = fate_of_call(place.site)
        return known

    def _names_a_device(self, call: Call) -> bool:
        """Whether the user's own line names a device of its choice: not "cpu", and not another tensor's."""
        if call.place is None or not call.direct:
            return False
        text = self._text(call.place)
        if self.chosen is not None:  # `self.device` of a trainer; it could also be a module's, asking its parameters
            text = _SETTINGS.sub("", text)
        return not ('"cpu"' in text or "'cpu'" in text or ".device" in text.replace("torch.device", ""))

    def _choose(self, place: Place | None) -> str:
        self.chosen = self.chosen or place
        return MOVED

    def _look_for_a_stranger(self, call: Call) -> None:
        origins = call.origins
        moved = next((o for o in origins if o.home == MOVED and o.kind != "parameter"), None)
        moved = moved or next((o for o in origins if o.home == MOVED), None)
        if moved is None and self._inside_moved(call.visit):
            moved = next((o for o in origins if o.home == BOTH), None)
        if moved is None or (call.name == "getitem" and origins[0].home != LOCAL):
            return
        for tensor, origin in zip(call.inputs, origins, strict=True):
            if origin.kind == "parameter":
                if origin.home is None and moved.kind != "parameter":
                    self._meet(call, origin, moved, tensor)
            elif origin.home == LOCAL and origin.shape:
                self._meet(call, origin, moved, tensor)

    def _meet(self, call: Call, local: Origin, moved: Origin, tensor: Any) -> None:
        key = (call.place, local.op or local.kind, local.place)
        if key in self._seen or len(self.meetings) >= _MOST:
            return
        self._seen.add(key)
        attribute = None if local.kind == "parameter" else self._attribute(local, call.visit)
        meeting = self._meeting(call, local, moved, attribute)
        if local.kind == "parameter":
            meeting.module = self._never_moved(tensor, call.visit)
            if meeting.module is None:
                return
        self.meetings.append(meeting)

    def _meeting(self, call: Call, local: Origin, moved: Origin, attribute: tuple[Module, str] | None) -> Meeting:
        return Meeting(call.name, call.place, local, moved, call.visit, attribute, step=self.watcher.step)

    def _inside_moved(self, visit: Visit | None) -> bool:
        """Whether a model that was moved is running."""
        module = None if visit is None else live(visit.root.module)
        known = (self.watcher.tensor_history.known(p) for p in module.parameters()) if module is not None else ()
        return any(origin is not None and origin.home == MOVED for origin in known)

    def _never_moved(self, parameter: Any, visit: Visit | None) -> Module | None:
        """The module (as large as possible) none of whose parameters was moved."""
        found = None
        while visit is not None:
            module = live(visit.module)
            if module is not None and any(p is parameter for p in module.parameters()):
                homes = [self.watcher.tensor_history.of(p).home for p in module.parameters()]
                if any(home == MOVED for home in homes):
                    break
                found = visit.module
            visit = visit.parent
        return found

    def _attribute(self, local: Origin, visit: Visit | None) -> tuple[Module, str] | None:
        """Which running module has this tensor, or one it was made from, as a plain attribute."""
        past = {id(origin) for origin in local.ancestors(60, through=lambda o: o.home == LOCAL)}
        while visit is not None:
            module = live(visit.module)
            for name, value in vars(module).items() if module is not None else ():
                if isinstance(value, torch.Tensor):
                    known = self.watcher.tensor_history.known(value)
                    if known is not None and id(known) in past:
                        return visit.module, name
            visit = visit.parent
        return None

    def _text(self, place: Place) -> str:
        """The expression at a place, as it is written."""
        known = self._texts.get(place)
        if known is None:
            site = place.site
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
