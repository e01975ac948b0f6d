"""The look: for a few steps, every torch call of the training thread with the line of the user's that made it.

Counted for each line and function: calls, time, copies between devices, waits for the device, tensors made on the host
and moved at once, attention written by hand. Kept are numbers and names, never tensors (those weakly, for one step).
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any

import torch

from stepscope import events, fence
from stepscope.common.ops import CONTRACTIONS, DEVICE_MOVES, FACTORIES, FROM_HOST
from stepscope.events import aside
from stepscope.events.names import BACKWARD, SYNC, Plan
from stepscope.profile.collect.clock import Clock
from stepscope.profile.collect.facts_process import describe_model
from stepscope.record.observers.own_frames import own_place
from stepscope.records.place import Place

_disabled = torch._C.DisableTorchFunction
_UNSEEN: dict[str, Plan] = {
    "torch:from_numpy": (0, "from_numpy"),
    "torch:Tensor.__repr__": (SYNC, "print"),
    "torch:Tensor.__format__": (SYNC, "print"),
}
"""Functions that are not followed as operations, and count here all the same."""
_FACTORIES = FACTORIES | FROM_HOST | {"tril", "triu"}
_TRANSFERS = DEVICE_MOVES | {"copy_", "type", "numpy"}
_HIDDEN_SYNCS = frozenset({"nonzero", "masked_select", "unique", "argwhere", "unique_consecutive", "bincount"})
_KEEPS_SCORES = frozenset(
    {"div", "mul", "add", "sub", "masked_fill", "masked_fill_", "float", "where", "div_", "mul_", "add_"}
)
_MOST_PLACES = 2000
_MANY = 16
_AROUND = 200_000
"""Python between two calls of one function, up to this many nanoseconds, counts to the later one."""


def file_line(frame: FrameType | None) -> tuple[str, int] | None:
    """The user's own line, from a frame outwards."""
    place = own_place(frame)
    if place is None:
        return None
    site = place.site
    return site.file, site.line


class Tally:
    """What one function did at one place, over all steps of the look."""

    __slots__ = (
        "around",
        "bytes",
        "calls",
        "device",
        "graph",
        "least",
        "made",
        "nanoseconds",
        "pinned",
        "same",
        "steps",
        "target",
        "waits_not",
    )

    def __init__(self) -> None:
        self.calls = self.nanoseconds = self.around = self.bytes = self.same = self.made = self.pinned = (
            self.waits_not
        ) = 0
        self.least = 1 << 62
        self.graph = 0
        self.device = self.target = ""
        self.steps: set[int] = set()


class Look:
    """A follower of operations: on between two optimizer steps, off permanently after a few."""

    who = "looking at a call"
    under_modes = True

    def __init__(self, clock: Clock) -> None:
        self._now = clock.wall_ns
        self.on = False
        self.over = False
        self.why_not = ""
        self.steps = 0
        self.paused = 0
        """Inside an optimizer's step: its calls are not the script's."""
        self.fetching = False
        """Inside a dataset, in this process: set by the loaders' facts."""
        self._last: tuple[Any, int] = (None, 0)
        self._went_back = False
        self._thread = threading.get_ident()
        self._tallies: dict[tuple[Place | None, str, bool], Tally] = {}
        self._autocast = [0, 0]
        self._dtypes: dict[str, int] = {}
        self._sources: dict[Any, Any] = {}
        self._made: dict[int, Any] = {}
        self._scores: dict[int, Any] = {}
        self._weights: dict[int, Any] = {}
        self._attention: dict[Place | None, int] = {}
        self._began = self._wall_ns = self._own_ns = 0
        self._installed = events.Installed(stays_in_parent=True)
        self._roots: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._models: list[dict[str, Any]] = []
        self._of_batch: dict[int, int] = {}
        """Of each model: the storage of what it was called with last in this step."""
        self._model_loops: dict[Place, int] = {}
        """Where a model is called again in one step with data from the same storage, and how often."""
        self._conv_outputs: dict[int, Any] = {}
        self._bias_pairs: set[str] = set()
        self._conv_calls = 0
        self._shapes: dict[int, set[tuple[int, ...]]] = {}

    # -- on and off -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        if self.over or self.on or threading.get_ident() != self._thread:
            return
        subscription = events.subscribe(
            self.who,
            thread=self._thread,
            module_begins=self._module_begins,
            module_ends=self._module_ends,
            backward_ends=self._backward_ends,
        )
        self._installed.add(subscription.remove)
        for point, plan in _UNSEEN.items():
            self._installed.wrap(point, self._layer(plan))
        self._installed.add(events.follow(self))
        self.on = True
        self._began = self._now()

    def stop(self) -> None:
        if self.on:
            self.on = False
            self._wall_ns = self._now() - self._began
            self._installed.remove()
            with events.quietly():
                self._models = [describe_model(model) for model in list(self._roots)]
            self._forget()
            self._sources.clear()
            self.over = True

    def give_up(self, why: str) -> None:
        self.stop()
        self.over, self.why_not = True, why

    @property
    def is_shut_out(self) -> bool:
        """Something was compiled meanwhile, and operations are no longer followed."""
        return self.on and bool(aside.closed_for_good)

    def step_over(self) -> None:
        self.steps += 1
        self._went_back = False
        self._forget()

    def _forget(self) -> None:
        for known in (self._made, self._scores, self._weights, self._conv_outputs, self._of_batch):
            known.clear()

    def _layer(self, plan: Plan) -> Callable[[Any], Any]:
        def layer(plain: Any) -> Any:
            @wraps(plain)
            def seen(*args: Any, **kwargs: Any) -> Any:
                if self.paused or threading.get_ident() != self._thread or aside.reason(under_modes=True) is not None:
                    return plain(*args, **kwargs)
                begun = self.begin(plan, plain, args, kwargs, events.caller())
                result = plain(*args, **kwargs)
                with _disabled():
                    fence.call(self.who, self.end, begun, result)
                return result

            return seen

        return layer

    # -- modules --------------------------------------------------------------------------------------------------

    def _module_begins(self, call: Any) -> None:
        if call.parent is None:
            self._roots.setdefault(call.module, 0)
            self._note_model_loop(call)
        args = call.args
        if args and type(call.module).__name__.startswith(("BatchNorm", "SyncBatchNorm")):
            conv = self._conv_outputs.get(id(args[0]))
            if conv is not None and conv[0]() is args[0]:
                self._bias_pairs.add(conv[1])

    def _note_model_loop(self, call: Any) -> None:
        """A model that gets data only, nothing it has computed before, does not need a loop over the batch."""
        given = [one for one in [*call.args, *call.kwargs.values()] if isinstance(one, torch.Tensor)]
        if aside.transform():  # what a transform hands on has no storage
            return
        with events.quietly():
            if not given or any(one.requires_grad for one in given):
                return
            storage = given[0].untyped_storage().data_ptr()
        place = own_place(call.frame)
        if self._of_batch.get(id(call.module)) == storage and place is not None:
            self._model_loops[place] = self._model_loops.get(place, 0) + 1
        self._of_batch[id(call.module)] = storage

    def _module_ends(self, call: Any) -> None:
        module, args, output = call.module, call.args, call.result
        if isinstance(module, torch.nn.modules.conv._ConvNd) and isinstance(output, torch.Tensor):
            self._conv_calls += 1
            shapes = self._shapes.setdefault(id(module), set())
            if args and len(shapes) < 4:
                shapes.add(tuple(args[0].shape))
            if module.bias is not None:
                kind = type(module).__name__
                text = f"{kind}({module.in_channels}, {module.out_channels})"
                self._conv_outputs[id(output)] = (weakref.ref(output), text)

    def _backward_ends(self, error: BaseException | None) -> None:
        self._last, self._went_back = (None, 0), True

    # -- calls ----------------------------------------------------------------------------------------------------

    def begin(
        self, plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None
    ) -> Any:
        """A call begins; its clock is read last."""
        if plan[0] == BACKWARD or plan[1].startswith("_record_function"):  # torch's own marks around loaders
            return None
        return plan, args, kwargs or {}, frame, self._now()

    def end(self, begun: Any, result: Any) -> None:
        ended = self._now()
        plan, args, kwargs, frame, began = begun
        sync = plan[0] == SYNC or plan[1] in _HIDDEN_SYNCS
        tally = self._note(plan[1], sync, args, kwargs, result, frame)
        if tally is not None:
            self._time(tally, frame.f_code, began, ended - began)
        self._own_ns += self._now() - ended

    def fail(self, begun: Any, error: BaseException) -> None:
        """The script hears of it; there is nothing to count."""

    def _time(self, tally: Tally, code: Any, began: int, took: int) -> None:
        if tally.calls >= _MANY:  # one of many was held up by something else on the machine
            took = min(took, 10 * tally.nanoseconds // tally.calls)
        tally.calls += 1
        tally.nanoseconds += took
        tally.least = min(tally.least, took)
        tally.steps.add(self.steps)
        last, ended = self._last
        if last is code and began - ended < _AROUND:
            tally.around += began - ended
        self._last = code, self._now()

    def _note(
        self, name: str, sync: bool, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, frame: FrameType | None
    ) -> Tally | None:
        place = own_place(frame)
        tally = self._tally(place, name)
        if tally is None:
            return None
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if first is not None:
            tally.device = tally.device or first.device.type
            self._note_attention(name, place, args, first, result)
        if isinstance(result, torch.Tensor):
            if result.requires_grad and not self._went_back:
                tally.graph += 1  # backward will visit this operation
            if name in _FACTORIES and result.device.type == "cpu":
                self._made[id(result)] = weakref.ref(result)
        if name in _TRANSFERS:
            self._note_move(name, place, tally, args, kwargs, first, result)
        elif sync and first is not None and first.device.type != "cpu":
            tally.target = "cpu"
        return tally

    def _tally(self, place: Any, name: str) -> Tally | None:
        key = (place, name, self.fetching)
        tally = self._tallies.get(key)
        if tally is None and len(self._tallies) < _MOST_PLACES:
            tally = self._tallies[key] = Tally()
        return tally

    def _note_attention(self, name: str, place: Any, args: tuple[Any, ...], first: Any, result: Any) -> None:
        """Follow scores through a softmax to the product with the values."""
        if name in CONTRACTIONS:
            self._note_matmul(name, place, args, first, result)
        elif name == "softmax":
            self._pass_on(self._scores, first, self._weights, result)
        elif name in _KEEPS_SCORES:
            self._pass_on(self._scores, first, self._scores, result)
        elif name == "dropout":
            self._pass_on(self._weights, first, self._weights, result)

    def _note_matmul(self, name: str, place: Any, args: tuple[Any, ...], first: Any, result: Any) -> None:
        self._autocast[0] += 1
        self._autocast[1] += _is_autocast(first.device.type)
        dtype = str(result.dtype if isinstance(result, torch.Tensor) else first.dtype).removeprefix("torch.")
        self._dtypes[dtype] = self._dtypes.get(dtype, 0) + 1
        if name in ("matmul", "bmm", "einsum", "baddbmm") and isinstance(result, torch.Tensor):
            known = self._weights.get(id(first))
            if known is not None and known() is first:
                self._attention[place] = self._attention.get(place, 0) + 1
            elif first.dim() >= 3:
                self._scores[id(result)] = weakref.ref(result)

    def _pass_on(self, known: dict[int, Any], first: Any, to: dict[int, Any], result: Any) -> None:
        found = known.get(id(first))
        if found is not None and found() is first and isinstance(result, torch.Tensor):
            to[id(result)] = weakref.ref(result)

    def _note_move(
        self,
        name: str,
        place: Any,
        tally: Tally,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        first: Any,
        result: Any,
    ) -> None:
        source = args[1] if name == "copy_" and len(args) > 1 and isinstance(args[1], torch.Tensor) else first
        target = first if name == "copy_" else result
        if source is None or not isinstance(target, torch.Tensor) or source.device == target.device:
            return
        tally.device, tally.target = source.device.type, target.device.type
        tally.bytes += source.numel() * source.element_size()
        if source.device.type == "cpu":
            self._note_host_copy(name, place, tally, args, kwargs, source)

    def _note_host_copy(
        self, name: str, place: Any, tally: Tally, args: tuple[Any, ...], kwargs: dict[str, Any], source: Any
    ) -> None:
        """Whether it was pinned, waited for, made here, and copied before in another step."""
        with events.quietly():
            tally.pinned += bool(source.is_pinned())
        waits_not = kwargs.get("non_blocking") or (name in ("to", "copy_") and True in args[2:])
        tally.waits_not += bool(waits_not)
        made = self._made.get(id(source))
        tally.made += made is not None and made() is source
        before = self._sources.get((place, id(source)))
        if before is not None and before[0]() is source and before[1] != self.steps:
            tally.same += 1
        self._sources[(place, id(source))] = (weakref.ref(source), self.steps)

    # -- the end --------------------------------------------------------------------------------------------------

    def result(self) -> dict[str, Any]:
        steps = max(1, self.steps)
        calls = []
        for (place, name, fetching), tally in self._tallies.items():
            site = None if place is None else place.site
            call: dict[str, Any] = {
                "file": "" if site is None else site.file,
                "line": 0 if site is None else site.line,
                "in": "" if site is None else site.function,
                "op": name,
                "fetching": fetching,
                "calls": tally.calls / steps,
                "ns": tally.nanoseconds // steps,
                "least_ns": tally.least,
                "graph_calls": tally.graph / steps,
                "around_ns": tally.around // steps,
                "every_step": len(tally.steps) >= self.steps > 0,
            }
            if tally.device:
                call["device"] = tally.device
            if tally.target:
                call |= {"target": tally.target, "bytes": tally.bytes // steps, "same": tally.same}
                call |= {"made": tally.made / steps, "pinned": tally.pinned / steps}
                call["non_blocking"] = tally.waits_not / steps
            calls.append(call)
        calls.sort(key=lambda call: -call["ns"])
        return {
            "look": {
                "steps": self.steps,
                "why_not": self.why_not,
                "wall_ns": max(0, self._wall_ns - self._own_ns) // steps,
            },
            "calls": calls[:400],
            "amp": {
                "matmuls": self._autocast[0] / steps,
                "autocast": self._autocast[1] / steps,
                "dtypes": self._dtypes,
            },
            "attention_by_hand": [
                {"file": site.file, "line": site.line, "calls": count / steps}
                for place, count in self._attention.items()
                if place is not None and (site := place.site)
            ],
            "models": self._models,
            "model_loops": [
                {"file": place.site.file, "line": place.site.line, "calls": 1 + count / steps}
                for place, count in self._model_loops.items()
            ],
            "conv_bias_before_norm": sorted(self._bias_pairs),
            "convolutions": {
                "calls": self._conv_calls / steps,
                "steady_shapes": all(len(shapes) <= 2 for shapes in self._shapes.values()),
            },
        }


_autocast_by_kind = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)


def _is_autocast(kind: str) -> bool:
    try:
        return bool(torch.is_autocast_enabled(kind) if _autocast_by_kind else torch.is_autocast_enabled())
    except RuntimeError:  # a kind of device that has none: meta
        return False
