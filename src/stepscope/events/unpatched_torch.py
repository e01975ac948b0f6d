"""Torch's own functions, for looks at values: whatever a script puts in their place, it does not see us use them.

    raw.item(raw.detach(loss))     # and not loss.detach().item(): the script may count calls of Tensor.item
    raw.isfinite(values)           # and not torch.isfinite(values)

Methods come from the C class below `torch.Tensor`, functions from the C module behind `torch`: scripts patch the names
above them. `float(tensor)` and `if tensor:` go through `Tensor.__float__` and `Tensor.__bool__`; use `raw.item`.
"""

from __future__ import annotations

from typing import Any

import torch

_methods: Any = torch._C.TensorBase
_functions: Any = torch._C._VariableFunctions


class _Raw:
    """Each name is looked up once."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(_functions, name, None) or getattr(_methods, name)  # `where` is a method too, another one
        setattr(self, name, found)
        return found


raw: Any = _Raw()
