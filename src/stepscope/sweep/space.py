"""The parameters of a sweep together: what may be drawn, what a grid has, what is inside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from stepscope.errors import ConfigError
from stepscope.sweep.domains import Choice, Domain
from stepscope.sweep.parameters import domain_from

MOST_DEPTH = 20


@dataclass(frozen=True)
class SearchSpace:
    """Each parameter's name with what it may be; nested names are joined with a dot.

    >>> space = SearchSpace.parse({"lr": {"min": 0.001, "max": 0.1, "log": True}, "width": [16, 32], "epochs": 5})
    >>> list(space.domains), space.varied
    (['lr', 'width', 'epochs'], ['lr', 'width'])
    >>> SearchSpace.parse({"width": [16, 32], "bias": [True, False]}).size
    4
    """

    domains: Mapping[str, Domain]

    @classmethod
    def parse(cls, raw: Any, where: str = "parameters") -> SearchSpace:
        """From the `parameters` of a sweep file."""
        if not isinstance(raw, Mapping) or not raw:
            raise ConfigError(
                f"{where} must name at least one parameter, like `lr: {{min: 0.001, max: 0.1, log: true}}`"
            )
        return cls(dict(_flat(raw, where, "", 0)))

    @property
    def varied(self) -> list[str]:
        """The parameters that are not constant."""
        return [name for name, domain in self.domains.items() if not _is_constant(domain)]

    @property
    def size(self) -> int | None:
        """How many different settings there are; None when there is no end to them."""
        counts = [_count(domain) for domain in self.domains.values()]
        return None if None in counts else math.prod(one for one in counts if one is not None)

    def sample(self, rng: Random) -> dict[str, Any]:
        """One setting, drawn with this generator and no other."""
        return {name: domain.sample(rng) for name, domain in self.domains.items()}

    def grid(self) -> Iterator[dict[str, Any]]:
        """Every setting, the last parameter changing fastest."""
        lists = []
        for name, domain in self.domains.items():
            values = domain.all_values()
            if values is None:
                raise ConfigError(
                    f"parameters.{name}: a grid needs every value listed; write values: [...], give it a step, "
                    "or use method: random"
                )
            lists.append(values)
        for row in product(*lists):
            yield dict(zip(self.domains, row, strict=True))

    def contains(self, params: Mapping[str, Any]) -> bool:
        """Whether a setting of an earlier form of the sweep is one of this form too."""
        return set(params) == set(self.domains) and all(self.domains[name].contains(params[name]) for name in params)


def _flat(raw: Mapping[Any, Any], where: str, prefix: str, depth: int) -> Iterator[tuple[str, Domain]]:
    if depth > MOST_DEPTH:
        raise ConfigError(f"{where} is nested more than {MOST_DEPTH} deep")
    for key, value in raw.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and isinstance(value.get("parameters"), Mapping):
            yield from _flat(value["parameters"], f"{where}.{key}", f"{name}.", depth + 1)
        else:
            yield name, domain_from(value, f"{where}.{key}")


def _is_constant(domain: Domain) -> bool:
    return isinstance(domain, Choice) and len(domain.values) == 1


def _count(domain: Domain) -> int | None:
    values = domain.all_values()
    return None if values is None else len(values)


def nested(params: Mapping[str, Any]) -> dict[str, Any]:
    """Names with dots as mappings within mappings.

    >>> nested({"lr": 0.1, "model.width": 64, "model.depth": 2})
    {'lr': 0.1, 'model': {'width': 64, 'depth': 2}}
    """
    made: dict[str, Any] = {}
    for name, value in params.items():
        *path, last = name.split(".")
        inner = made
        for part in path:
            step = inner.setdefault(part, {})
            if not isinstance(step, dict):  # `a` and `a.b` are both parameters: keep them side by side
                inner, last = made, name
                break
            inner = step
        inner[last] = value
    return made
