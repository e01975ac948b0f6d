"""Running the user's code in an experiment: unobserved, unheard, and with every random number generator put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record import random_state

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher


def _seen_by_torch_functions() -> Any:
    """Rules are asked with torch functions off; the user's own subclasses and modes need them."""
    return getattr(torch._C, "_EnableTorchFunction", nullcontext)()


@contextmanager
def undisturbed(watcher: Watcher) -> Iterator[None]:
    """Run the user's code without a trace: unobserved, unheard, and with every generator put back."""
    state = random_state.taken()
    watcher.muted += 1
    try:
        with (
            watcher.tensor_history.pause(),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
            torch._C.DisableTorchFunction(),  # so that the script's modes do not see the next two come and go
            torch.inference_mode(False),
            torch.enable_grad(),
            _seen_by_torch_functions(),
        ):
            yield
    finally:
        watcher.muted -= 1
        random_state.put_back(state)
