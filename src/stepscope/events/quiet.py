"""Compute something that nobody sees: no autograd, no function or dispatch mode of the script's, nothing recorded."""

from __future__ import annotations

from typing import Any

import torch

_disabled = torch._C.DisableTorchFunction
_set_grad = torch._C._set_grad_enabled
_is_grad = torch.is_grad_enabled
# Not `_disable_current_modes`: it imports parts of torch that the script may never need.
_pop_mode = torch.utils._python_dispatch._pop_mode
_push_mode = torch.utils._python_dispatch._push_mode
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
        self._modes: list[Any] = [_pop_mode() for _ in range(_dispatch_modes())]

    def __exit__(self, *error: Any) -> None:
        while self._modes:
            _push_mode(self._modes.pop())
        if self._grad:
            _set_grad(True)
        self._functions.__exit__(None, None, None)
