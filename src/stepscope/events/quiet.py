"""Compute something that nobody sees: no autograd, no function or dispatch mode of the script's, nothing recorded."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["quietly", "unnoticed"]

_disable_modes = getattr(torch.utils._python_dispatch, "_disable_current_modes", None)
_dispatch_modes = torch._C._len_torch_dispatch_stack


class unnoticed:
    """`DisableTorchFunction()` and `no_grad()` in one, for what is entered at every step."""

    __slots__ = ("_functions", "_grad")

    def __enter__(self) -> None:
        self._functions = torch._C.DisableTorchFunction()
        self._functions.__enter__()
        self._grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, *error: Any) -> None:
        torch._C._set_grad_enabled(self._grad)
        self._functions.__exit__(*error)


class quietly:  # entered several times a step, so no generators inside one another
    """As `unnoticed`, and no dispatch mode sees it either."""

    __slots__ = ("_modes", "_outer")

    def __enter__(self) -> None:
        self._outer = unnoticed()
        self._outer.__enter__()
        self._modes = None
        if _disable_modes is not None and _dispatch_modes():
            self._modes = _disable_modes()
            self._modes.__enter__()

    def __exit__(self, *error: Any) -> None:
        try:
            if self._modes is not None:
                self._modes.__exit__(*error)
        finally:
            self._outer.__exit__(*error)
