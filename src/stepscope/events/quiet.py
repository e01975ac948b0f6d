"""Compute something that nobody sees: no autograd, no function or dispatch mode of the script's, nothing recorded."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["quietly"]

_disabled = torch._C.DisableTorchFunction
_set_grad = torch._C._set_grad_enabled
_is_grad = torch.is_grad_enabled
_disable_modes = getattr(torch.utils._python_dispatch, "_disable_current_modes", None)
_dispatch_modes = torch._C._len_torch_dispatch_stack


class quietly:  # entered several times a step, so nothing nested and no generators
    """No gradients are recorded, and neither a function mode nor a dispatch mode of the script sees what runs inside.

    with quietly():
        norm = gradient.norm()
    """

    __slots__ = ("_functions", "_grad", "_modes")

    def __enter__(self) -> None:
        self._functions = _disabled()
        self._functions.__enter__()
        self._grad = _is_grad()
        if self._grad:
            _set_grad(False)
        self._modes = None
        if _dispatch_modes() and _disable_modes is not None:
            self._modes = _disable_modes()
            self._modes.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self._modes is not None:
            self._modes.__exit__(*error)
        if self._grad:
            _set_grad(True)
        self._functions.__exit__(None, None, None)
