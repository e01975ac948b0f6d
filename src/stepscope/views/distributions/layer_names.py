"""Infer the layer and family of a histogram from its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

FAMILIES = ("weights", "gradients", "activations", "values")
"""In display order; `values` is the default."""

_WORDS = {
    "weights": ("weights", "params", "param", "parameters", "parameter"),
    "gradients": ("gradients", "gradient", "grads", "grad"),
    "activations": ("activations", "activation", "acts", "outputs", "output"),
}
_FAMILY = {word: family for family, words in _WORDS.items() for word in words}
_ENDINGS = re.compile(r"^(?P<layer>.+)[./_](?P<word>grads?|gradients?|activations?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Placed:
    """A key with its layer and family."""

    key: str
    layer: str
    family: str


def placed(keys: Collection[str]) -> list[Placed]:
    """Each key's layer and family.

    >>> [(one.layer, one.family) for one in placed(["gradients/fc.weight", "fc.weight/grad", "fc.weight", "scores"])]
    [('fc.weight', 'gradients'), ('fc.weight', 'gradients'), ('fc.weight', 'weights'), ('scores', 'values')]
    """
    found = {key: _split(key) for key in keys}
    with_gradients = {layer for layer, family in found.values() if family == "gradients"}
    return [
        Placed(key, layer, family or ("weights" if layer in with_gradients else "values"))
        for key, (layer, family) in found.items()
    ]


def _split(key: str) -> tuple[str, str | None]:
    """A layer and its family, from a part of the path or a suffix."""
    parts = key.split("/")
    if len(parts) > 1:
        for at, part in enumerate(parts):
            family = _FAMILY.get(part.lower())
            if family is not None:
                return "/".join((*parts[:at], *parts[at + 1 :])), family
    ending = _ENDINGS.match(key)
    if ending is not None:
        return ending["layer"], _FAMILY[ending["word"].lower()]
    return key, None


def in_rows(found: Iterable[Placed]) -> dict[str, list[Placed]]:
    """One row per layer, in order of appearance.

    A module's activations (`fc`) join the row of its weight (`fc.weight`), if there is one, so that a layer's
    weights, gradients and activations appear side by side.
    """
    rows: dict[str, list[Placed]] = {}
    for one in found:
        rows.setdefault(one.layer, []).append(one)
    for layer in list(rows):
        host = _host(layer, rows)
        if host is None:
            continue
        taken = {one.family for one in rows[host]}
        moving = [one for one in rows[layer] if one.family not in taken]
        rows[host] += moving
        rows[layer] = [one for one in rows[layer] if one not in moving]
        if not rows[layer]:
            del rows[layer]
    return rows


def _host(layer: str, rows: dict[str, list[Placed]]) -> str | None:
    """The row of a module's own parameter: its weight, else the first one found."""
    for name in (f"{layer}.weight", f"{layer}.bias", f"{layer}/weight", f"{layer}/kernel"):
        if name in rows:
            return name
    return None
