"""When to step aside: something else is following the code, and what we did would become part of what it sees.

`reason()` is asked at every call of a model and every operation, so it only reads flags that torch keeps anyway.
`outside(why)` takes modes and doors off for as long as a block runs, for compilers that look at the whole process.
How often, and why, is kept: it is part of the coverage.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

_tracing = torch._C._get_tracing_state
_dispatch_modes = torch._C._len_torch_dispatch_stack
_functorch: Any = torch._C._functorch
level: Callable[[], Any] = _functorch.peek_interpreter_stack
"""The functorch transform that is running, or None."""
_fx_flag: Callable[[], Any] | None = None
"""Asks torch.fx whether it traces, once it is imported."""
AWAY: list[str] = []
"""The blocks of `outside` that are running."""
noted: Counter[str] = Counter()
"""Why we stepped aside, how often."""
on_away: list[Callable[[bool], None]] = []
"""Sources that must take something off while we are outside: called with True, and with False when it is over."""
closed_for_good: list[str] = []
"""Why operations and modules can no longer be followed in this process: compiled code may run at any time."""
_eager: list[None] = []
_put_off: list[str] = []
own_dispatch_modes = 0
"""How many of the dispatch modes on the stack are the recorder's."""


def reason(*, under_modes: bool = False) -> str | None:
    """Why nothing may be looked at now; None when nothing stands against it.

    With `under_modes` the script's own dispatch modes are no reason: the caller runs no operation that they could see.
    """
    if _tracing() is not None:
        return _note("torch.jit.trace")
    if not under_modes and _dispatch_modes() > own_dispatch_modes:
        return _note("a dispatch mode of the script")
    if (_fx_flag or _find_fx)():
        return _note("torch.fx")
    return _note(AWAY[-1]) if AWAY else None


def transform() -> bool:
    """Whether a functorch transform (vmap, grad, jvp) is running: tensors have no plain values there."""
    return level() is not None


def is_capturing() -> bool:
    """Whether a CUDA graph is being captured: what we launch would become part of it, what we ask would break it."""
    return bool(torch.cuda.is_initialized()) and torch.cuda.is_current_stream_capturing()  # type: ignore[no-untyped-call]


def _find_fx() -> Any:
    """By torch's own flag; `is_fx_tracing()` warns when it is called."""
    global _fx_flag
    module = sys.modules.get("torch.fx._symbolic_trace")
    if module is None:
        return False
    asked = getattr(module, "_get_is_fx_tracing", None)  # since torch 2.14
    _fx_flag = partial(vars(module).get, "_is_fx_tracing_flag") if asked is None else asked
    return _fx_flag()


def _note(why: str) -> str:
    noted[why] += 1
    return why


@contextmanager
def outside(why: str) -> Iterator[None]:
    """Nothing of Stepscope is on any stack or in any model's way while this runs."""
    AWAY.append(why)
    noted[why] += 1
    if len(AWAY) == 1:
        for told in on_away:
            told(True)
    try:
        yield
    finally:
        AWAY.pop()
        if not AWAY and not closed_for_good:
            for told in on_away:
                told(False)


def shut(why: str) -> None:
    """From now on operations and modules are not followed: compiled code would see it."""
    if _eager:
        _put_off.append(why)
    elif not closed_for_good:
        closed_for_good.append(why)
        noted[why] += 1
        for told in on_away:
            told(True)


def eager() -> Callable[[], None]:
    """Compiled code runs eagerly from now on, so it cannot see us and we may follow; what is returned ends that."""
    _eager.append(None)
    if closed_for_good:
        _put_off.extend(closed_for_good)
        closed_for_good.clear()
        if not AWAY:
            for told in on_away:
                told(False)
    return _no_longer_eager


def _no_longer_eager() -> None:
    _eager.pop()
    if not _eager and _put_off:
        why = _put_off[0]
        _put_off.clear()
        shut(why)


def reopen() -> None:
    """A new script begins in this process."""
    was, closed_for_good[:] = bool(closed_for_good), []
    noted.clear()
    if was and not AWAY:
        for told in on_away:
            told(False)
