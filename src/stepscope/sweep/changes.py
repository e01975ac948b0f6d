"""What differs between the sweep file now and at the last start, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A line for each value that differs.

    >>> changes({"runs": 9, "parameters": {"lr": [0.1]}}, {"runs": 20, "parameters": {"lr": [0.1, 0.2]}, "seed": 1})
    ['runs: 9 -> 20', 'parameters.lr: [0.1] -> [0.1, 0.2]', 'seed: added, 1']
    """
    old, new = dict(_flat(before)), dict(_flat(json.loads(json.dumps(now, default=str))))
    said = [
        f"{name}: {_shown(old[name])} -> {_shown(new[name])}"
        for name in old
        if name in new and not same(old[name], new[name])
    ]
    said += [f"{name}: added, {_shown(new[name])}" for name in new if name not in old]
    return said + [f"{name}: taken away, was {_shown(old[name])}" for name in old if name not in new]


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _flat(raw: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in raw.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
