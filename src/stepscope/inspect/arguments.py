"""An op's arguments in readable form: `dim=-1`, `index=[:5, tensor]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.plain_text import clean


def argument_text(args: Mapping[str, Any]) -> str:
    """All informative arguments on one line; those left at None are omitted.

    >>> argument_text({"dim": -1, "value": 0.0010000000000000009, "out": None})
    'dim=-1, value=0.001'
    >>> argument_text({"index": ["...", {"slice": [None, 5, None]}, {"tensor": 7}]})
    'index=[..., :5, tensor]'
    """
    return ", ".join(f"{clean(name)}={_said(value)}" for name, value in args.items() if value is not None)


def _said(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_said, value))}]"
    if isinstance(value, dict):
        if value.keys() == {"tensor"}:
            return "tensor"
        if value.keys() == {"slice"} and isinstance(value["slice"], list):
            return _slice(value["slice"])
        return f"{{{', '.join(f'{clean(str(key))}: {_said(inner)}' for key, inner in value.items())}}}"
    return clean(str(value))


def _slice(parts: list[Any]) -> str:
    """`2:`, `:5`, `::2`"""
    start, stop, step = ("" if part is None else _said(part) for part in (*parts, None, None, None)[:3])
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
