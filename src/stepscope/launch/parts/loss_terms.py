"""The terms of a loss that is a sum: each is a series of its own, named as the source names it.

Between the end of the model and `backward` operations are followed by name, a handful of them. A script whose loss is
not a sum in its first steps is not followed until another optimizer begins.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from stepscope import events, fence
from stepscope.events.source import may_rest, only_noted
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around
from stepscope.launch.sum_terms import MOST_TERMS, PRODUCTS, REDUCTIONS, STACKS, SUMS, Made, is_term_name, terms_of
from stepscope.record.sites import Spot, is_users

if TYPE_CHECKING:
    from torch.optim import Optimizer

__all__ = ["LossTerms"]

_TRIES = 8
_IN_PLACE = frozenset({"add_", "sub_", "mul_", "div_"})
_MOST_CALLS, _MOST_FRAMES = 4, 24
_MOST_OPS = 400
"""Operations after the model that are kept for one backward: a loss is a handful of them."""


class _Followed:
    """Scalars with a gradient that were made since the model returned, as plain numbers: evaluation without `no_grad`
    must not keep the graph of every batch."""

    who = "following the terms of the loss"
    paused = 0
    under_modes = False  # reading an attribute of a tensor is a call that a mode of the script would see

    def __init__(self, torch: ModuleType) -> None:
        self._made: dict[int, tuple[Any, Made]] = {}
        """By identity, with a weak reference: another tensor may come to lie where one has gone."""
        self._returned: dict[int, tuple[Any, str]] = {}
        """Losses that the model returned in a dictionary, by their keys."""
        self._tensor = torch.Tensor
        from stepscope.events.unpatched_torch import raw  # a script may count calls of Tensor.detach

        self._detach, self._clone = raw.detach, raw.clone

    def made(self, value: Any) -> Made | None:
        known = self._made.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def clear(self) -> None:
        self._made.clear()
        self._returned.clear()

    def returned(self, result: Any) -> None:
        """What a model in training returns as a dictionary of losses, as detectors do."""
        if isinstance(result, dict) and len(result) <= MOST_TERMS:
            scalars = [(key, one) for key, one in result.items() if is_term_name(key) and _is_scalar(one)]
            self._returned = {id(one): (weakref.ref(one), key) for key, one in scalars}

    def returned_loss(self, kind: str, result: Any, frame: FrameType) -> None:
        """What a module like `nn.CrossEntropyLoss` returns, which is called as models are."""
        if type(result) is self._tensor and _is_scalar(result):
            self._made[id(result)] = weakref.ref(result), Made(self._detach(result), kind, spots=_spots(frame))

    def begin(self, plan: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        if len(self._made) >= _MOST_OPS:
            self._made.clear()
        before = self._before(args[0]) if plan[1] in _IN_PLACE and _is_scalar(args[0]) else None
        return plan[1], args, before, frame

    def _before(self, value: Any) -> Made:
        """What `loss += penalty` writes over: a copy, with what is known of it."""
        with events.quietly():
            copied = self._clone(self._detach(value))
        known = self.made(value)
        return Made(copied, "") if known is None else replace(known, value=copied)

    def end(self, begun: Any, result: Any) -> None:
        if type(result) is not self._tensor or result.dim() > 1 or not result.requires_grad:
            return
        name, args, before, frame = begun
        inputs = self._inputs(name, args)
        if result.dim() and not any(one is not None and (name in STACKS or one.op in STACKS) for one in inputs):
            return
        inputs = inputs if before is None else (before, *inputs[1:])
        if name == "add" and args[1:] and type(args[1]) in (int, float) and args[1] == 0 and inputs[0] is not None:
            self._made[id(result)] = weakref.ref(result), inputs[0]  # `sum(losses)` begins with it
            return
        with events.quietly():
            made = Made(self._detach(result), name, inputs, _spots(frame))
        self._made[id(result)] = weakref.ref(result), made

    def _inputs(self, name: str, args: tuple[Any, ...]) -> tuple[Made | None, ...]:
        if name in SUMS or name in PRODUCTS:
            return tuple(map(self._input, args[:2]))
        if name in REDUCTIONS:
            return (self.made(args[0]),)
        stacked = args[0] if name in STACKS and args else ()
        return (
            tuple(map(self._input, stacked)) if isinstance(stacked, list | tuple) and len(stacked) <= MOST_TERMS else ()
        )

    def _input(self, value: Any) -> Made | None:
        known = self.made(value)
        if known is not None or not _is_scalar(value):
            return known
        reference, key = self._returned.get(id(value), (None, ""))
        with events.quietly():
            name = key if reference is not None and reference() is value else ""
            return Made(self._detach(value), "", name=name)

    def fail(self, begun: Any, error: BaseException) -> None:
        """The script hears of it; there is nothing to keep."""


class LossTerms(Part):
    ending = "following the terms of the loss"

    def __init__(self, around: Around, logbook: Logbook) -> None:
        self._around, self._logbook = around, logbook
        self._subscription: events.Subscription | None = None
        self._followed: _Followed | None = None
        self._unfollow: Callable[[], None] | None = None
        self._terms: dict[str, Any] = {}
        self._tries = 0
        self._arrivals: Any = None
        self._is_grad_enabled: Callable[[], bool] = bool

    def torch_came(self, torch: ModuleType) -> None:
        if not self._around.options.diagnose:
            return
        from stepscope.record.device_reads import Arrivals

        self._followed, self._arrivals = _Followed(torch), Arrivals()
        self._is_grad_enabled = torch.is_grad_enabled
        self._begin()

    def _begin(self, optimizer: Any = None) -> None:
        """From the start, and again with another optimizer where the loss so far was no sum."""
        loop = self._around.loop
        loop.on_optimizer = [one for one in loop.on_optimizer if one != self._begin]
        self._tries = 0
        self._subscription = events.subscribe(
            self.ending, model_begins=self._model_begins, model_ends=self._model_ends, backward_begins=self._goes_back
        )
        if self._stepped not in loop.on_step:
            loop.on_step.append(self._stepped)

    # -- from the model to backward --------------------------------------------------------------------------------

    @may_rest
    def _model_begins(self, call: Any) -> None:
        if self._unfollow is not None:
            self._leave(keep=True)  # a second model, as of a GAN: its loss may be a sum with what came before
        cadence = self._logbook.cadence
        if self._around.loop.is_on and self._is_grad_enabled() and not (cadence is not None and cadence.skips):
            call.notes["loss terms"] = True

    @only_noted
    def _model_ends(self, call: Any) -> None:
        result = call.result
        if "loss terms" not in call.notes or self._unfollow is not None or self._followed is None:
            return
        if call.error is not None:
            return
        with events.quietly():  # a mode of the script would see the attribute being read
            is_trained = _has_grad(result)
            if is_trained:
                self._followed.returned(result)
                self._followed.returned_loss(type(call.module).__name__, result, sys._getframe(1))
        if is_trained:
            self._unfollow = events.follow(self._followed)

    def _leave(self, *, keep: bool = False) -> None:
        if self._followed is not None and not keep:
            self._followed.clear()
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None

    def _goes_back(self, roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        if self._unfollow is None or self._followed is None or not kwargs.get("accumulate_grad", True):
            return  # `autograd.grad` is on the way to a gradient penalty
        loss = roots[0] if isinstance(roots, list | tuple) else roots
        found = terms_of(self._followed.made(loss))
        self._leave()
        if found:
            self._tries = -1 << 40
            self._terms = found
            return
        self._tries += 1
        if self._tries >= _TRIES:
            self._stop()
            self._around.loop.on_optimizer.append(self._begin)  # a student comes after its teacher

    # -- the numbers -----------------------------------------------------------------------------------------------

    def _stepped(self, optimizer: Optimizer) -> None:
        if self._unfollow is not None:  # no backward came, and the next model's call may not be heard of
            self._leave()
        if self._terms:
            terms, self._terms = self._terms, {}
            fence.call(self.ending, self._send, terms)
        if self._arrivals.queue:
            fence.call(self.ending, self._receive, False)
        elif self._subscription is None:
            self._around.loop.no_longer_on_step(self._stepped)

    def _send(self, terms: dict[str, Any]) -> None:
        with events.quietly():
            self._arrivals.send((self._around.loop.last_number, self._around.loop.last_optimizer), terms)

    def _receive(self, wait: bool) -> None:
        for (number, which), values in self._arrivals.receive(wait):
            self._logbook.terms(which, number, values)

    def _stop(self) -> None:
        self._leave()
        if self._subscription is not None:
            self._subscription.remove()
            self._subscription = None

    def end(self, ended: Ended) -> None:
        self._stop()
        if self._arrivals is not None:
            self._receive(True)


def _spots(frame: FrameType | None) -> tuple[Spot, ...]:
    """The user's code among the calls that lead to an operation, from the inside out."""
    found: list[Spot] = []
    for _ in range(_MOST_FRAMES):
        if frame is None or len(found) == _MOST_CALLS:
            break
        if is_users(frame.f_code):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def _is_scalar(value: Any) -> bool:
    return getattr(value, "requires_grad", False) is True and value.dim() == 0


def _has_grad(result: Any) -> bool:
    """Whether what a model has returned can be trained on."""
    if isinstance(result, dict):
        return any(_has_grad(one) for one in list(result.values())[:8])
    if isinstance(result, list | tuple):
        return any(_has_grad(one) for one in result[:8])
    return getattr(result, "requires_grad", False) is True
