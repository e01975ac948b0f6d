"""The script runs up to the step by itself; then it gets the saved batch, state and random numbers, and continues.

Until the line where the saved step began is reached, every loader gives one batch, in this process. There the step's
batch is used instead; at the first call of each model its parameters and buffers are loaded, and the plain values of
the user's functions are set.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from stepscope import events
from stepscope.errors import StepscopeError
from stepscope.events.quiet import quietly
from stepscope.launch.capsule.frames import own_frames, put_back
from stepscope.launch.capsule.manifest import Anchor
from stepscope.launch.capsule.safe_encoding import Missing, Unpacker
from stepscope.launch.replay.loading import Loaded, load_model, load_optimizer
from stepscope.record import random_state
from stepscope.record.arguments import tensors_in
from stepscope.record.gradient_norm import total_norm
from stepscope.record.observers.own_frames import own_place
from stepscope.records.place import Place

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.launch.capsule.load import Capsule
    from stepscope.record.observers.watcher import Watcher

_LOADERS = "torch.utils.data.dataloader"


class StepOver(BaseException):
    """Unwinds the script once its step is over; no `except Exception` of the script's holds it up."""


class Rehearsal:
    """To be put in place before the watcher starts, so that it stands nearer to the script."""

    def __init__(
        self, watcher: Watcher, capsule: Capsule, on_begin: Callable[[], None], *, lines_moved: bool = False
    ) -> None:
        self.watcher = watcher
        self.capsule, self.manifest = capsule, capsule.manifest
        self.reached = False
        """The step has begun: what runs from now on is the replay."""
        self.loss: float | None = None
        self.grad_norm: float | None = None
        self.loaded: list[Loaded] = []
        self.batch_tensors: list[str] = []
        """What the saved batch holds: `16x8 float32`."""
        self.values_set = 0
        self.arguments_replaced = 0
        self._on_begin = on_begin
        self._unpacker = Unpacker(capsule.tensor, _device)
        self._given = 0
        self._depth = 0
        self._models: list[Any] = []
        self._steps = 0
        self._lines_moved = lines_moved
        self._later = self.manifest.steps_taken == 0
        """The part of the turn that failed is running: after the optimizer steps it had taken before."""

    # Standing between the script and torch

    def put_in_place(self, installed: events.Installed) -> None:
        rehearsal, call = self, torch.nn.Module.__call__

        # torch.profiler looks for a local named `self` in the code of Module.__call__, and crashes without one.
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if rehearsal._depth:
                return call(self, *args, **kwargs)
            with torch._C.DisableTorchFunction():  # what we do here is not part of the step
                args, kwargs = rehearsal._before_call(self, args, kwargs)
            rehearsal._depth += 1
            try:
                return call(self, *args, **kwargs)
            finally:
                rehearsal._depth -= 1

        self._installed = installed
        installed.replace("torch.nn:Module.__call__", __call__)
        subscription = events.subscribe(
            "replaying a step",
            thread=threading.get_ident(),
            backward_asked=self._backward,
            step_asked=self._step_begins,
            step_ends=self._step_done,
        )
        installed.add(subscription.remove)
        installed.wrap(f"{_LOADERS}:DataLoader.__iter__", lambda plain: lambda loader: _Given(loader, rehearsal))

    def next_batch(self, loader: Any, taken: list[Any]) -> Any:
        """What a loader gives: the saved batch at the right line, else one of its own."""
        batches = self.manifest.batches
        if self.reached and (self._models or self._given >= len(batches)):
            raise StepOver
        if self._given < len(batches) and (
            self.reached or (self._is_at(self.manifest.anchor) and self._is_the(loader))
        ):
            with torch._C.DisableTorchFunction():
                return self._hand_over()
        if taken:
            raise StopIteration  # one batch of each loader on the way is enough
        taken.append(True)
        return next(_in_this_process(loader))

    def _hand_over(self) -> Any:
        if not self.reached:
            self._begin()
        batch = self._unpacker.unpack(self.manifest.batches[self._given])
        self._given += 1
        self.batch_tensors += [said_of_tensor(tensor) for tensor in tensors_in(batch)]
        self._set_values(sys._getframe(1))  # again at the first model, for what the loop sets itself
        self._put_random(self.manifest.random)
        return batch

    def _before_call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        if not self.reached:
            if self.manifest.has_batch or not self._is_at(self.manifest.anchor):
                return args, kwargs
            self._begin()
        first = not self._models
        if self.manifest.steps_taken and self._steps == self.manifest.steps_taken and not self._later:
            self._go_on_after_updates()
        if not any(known is module for known in self._models):
            self._models.append(module)
            self._load(module, len(self._models) - 1)
        if first:
            self._set_values(sys._getframe(1))
            args, kwargs = self._saved_arguments(args, kwargs)
            if not self.manifest.has_batch:
                self._put_random(self.manifest.random)
        return args, kwargs

    def _is_at(self, anchor: Anchor | None) -> bool:
        place = own_place(sys._getframe(2))
        return anchor is not None and place is not None and is_same_line(anchor, place, self._lines_moved)

    def _is_the(self, loader: Any) -> bool:
        """Whether this loader was made where the one of the saved batch was."""
        fact, saved = self.watcher.loaders.of(loader), self.manifest.loader
        if fact is None or fact.made is None or saved is None:
            return True
        return is_same_line(saved, fact.made, self._lines_moved)

    # Putting the saved step in place

    def _set_values(self, frame: FrameType) -> None:
        self.values_set += put_back(self.manifest.frames, own_frames(frame), self._unpacker)

    def _begin(self) -> None:
        self.reached = True
        if self.manifest.rank and torch.distributed.is_available():
            # The job is one of a single rank, but code inside the step may ask which one it was.
            rank = self.manifest.rank
            self._installed.wrap("torch.distributed:get_rank", lambda plain: lambda group=None: rank)
        for saved in self.manifest.optimizers:
            made = self.watcher.optimizers.made
            optimizer = made[saved.number].ref() if saved.number < len(made) else None
            self.loaded.append(load_optimizer(saved, optimizer, self._unpacker))
        if self._later:
            self._on_begin()

    def _go_on_after_updates(self) -> None:
        """The turn had updated something before it failed: go on from exactly there."""
        self._later = True
        for index, module in enumerate(self._models):
            self._load(module, index, again=True)
        for saved in self.manifest.optimizers:
            optimizer = self.watcher.optimizers.made[saved.number].ref()
            load_optimizer(saved, optimizer, self._unpacker)
        self._put_random(self.manifest.random_later)
        self._on_begin()

    def _load(self, module: Any, index: int, again: bool = False) -> None:
        if index < len(self.manifest.models):
            loaded = load_model(self.manifest.models[index], module, self._unpacker)
            if not again:
                self.loaded.append(loaded)

    def _put_random(self, packed: Any) -> None:
        state = self._unpacker.unpack(packed)
        if isinstance(state, dict):
            if "cuda" in state and len(state["cuda"]) != torch.cuda.device_count():
                del state["cuda"]
            if "numpy" in state and "numpy" not in sys.modules:
                del state["numpy"]
            random_state.put_back(state)

    def _saved_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """What the model was called with; the script's own where it is the same: what it shares stays shared."""
        if self.manifest.arguments is None:
            return args, kwargs
        saved_args, saved_kwargs = self._unpacker.unpack(self.manifest.arguments)
        if len(saved_args) != len(args) or saved_kwargs.keys() != kwargs.keys():
            return args, kwargs
        chosen = tuple(self._chosen(mine, saved) for mine, saved in zip(args, saved_args, strict=True))
        return chosen, {name: self._chosen(kwargs[name], saved) for name, saved in saved_kwargs.items()}

    def _chosen(self, mine: Any, saved: Any) -> Any:
        with quietly():
            if isinstance(saved, Missing) or not isinstance(saved, torch.Tensor) or not isinstance(mine, torch.Tensor):
                return mine
            saved = saved.to(mine.device)
            if mine.shape == saved.shape and mine.dtype == saved.dtype and bool(mine.eq(saved).all()):
                return mine
        self.arguments_replaced += 1
        return saved

    # When the step is over

    def _backward(self, roots: Any, kwargs: dict[str, Any]) -> None:
        if not (self.reached and self._later and kwargs.get("accumulate_grad", True)):
            return
        loss = roots[0] if isinstance(roots, (list, tuple)) else roots
        if isinstance(loss, torch.Tensor) and loss.numel() == 1:
            with quietly():
                self.loss = float(loss.detach())
            if self.manifest.why == "loss" and not math.isfinite(self.loss):
                raise StepOver

    def _step_begins(self, optimizer: Optimizer) -> None:
        if self.reached and self._later and self.manifest.why != "error":
            gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            with quietly():
                norm = total_norm(gradients) if gradients else None
                self.grad_norm = None if norm is None else float(norm)
            raise StepOver

    def _step_done(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._steps += self.reached


class _Given:
    """A loader's iterator in a replay."""

    def __init__(self, loader: Any, rehearsal: Rehearsal) -> None:
        self._loader, self._rehearsal, self._taken = loader, rehearsal, list[Any]()

    def __iter__(self) -> _Given:
        return self

    def __next__(self) -> Any:
        return self._rehearsal.next_batch(self._loader, self._taken)

    def __len__(self) -> int:
        return len(self._loader)


def _in_this_process(loader: Any) -> Any:
    from torch.utils.data.dataloader import _SingleProcessDataLoaderIter

    before = loader.num_workers, loader.timeout
    loader.num_workers, loader.timeout = 0, 0
    try:
        return _SingleProcessDataLoaderIter(loader)
    except AssertionError as fault:  # torch checks the two above; nothing else is known to fail
        raise StepscopeError(f"the loader cannot be read in this process: {fault}") from None
    finally:
        loader.num_workers, loader.timeout = before


def is_same_line(anchor: Anchor, place: Place, lines_moved: bool) -> bool:
    """Whether the script is at the saved line; in a file that was changed since, at a line of the same text."""
    if os.path.basename(place.file) != os.path.basename(anchor.file) or place.name != anchor.function:
        return False
    site = place.site
    return site.line == anchor.line or (lines_moved and bool(anchor.text) and site.text == anchor.text)


def said_of_tensor(tensor: Any) -> str:
    shape = "x".join(str(size) for size in tensor.shape) or "scalar"
    return f"{shape} {str(tensor.dtype).removeprefix('torch.')}"


def _device(name: str) -> str:
    """Where a saved tensor goes: its device if there is one here, else the CPU."""
    kind, _, index = name.partition(":")
    if kind == "cuda" and torch.cuda.is_available() and int(index or 0) < torch.cuda.device_count():
        return name
    return "cpu"
