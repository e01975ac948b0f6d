"""Untrusted YAML: plain values only, limited nesting, limited expansion of references."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stepscope.errors import BadData

if TYPE_CHECKING:
    from yaml import SafeLoader

_DEEPEST = 64
"""Maximum nesting of lists; PyYAML's time grows with its square."""

_MOST_VALUES = 500_000
"""Maximum number of values, counting repeated references each time."""


def load_yaml(text: str, name: str) -> Any:
    """The value of a YAML text; `name` is for messages.

    Uses PyYAML's Python loader: the C loader crashes the process on a hundred thousand brackets.
    """
    import yaml

    try:
        found = yaml.load(text, _loader())
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as fault:
        words = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault).split("\n")[0]
        raise BadData(f"{name} cannot be read as YAML: {words}") from None
    left = _MOST_VALUES
    waiting = [found]
    while waiting:
        value = waiting.pop()
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
        left -= len(inner)
        if left < 0:
            raise BadData(
                f"{name} expands to more than {_MOST_VALUES:,} values through repeated references; remove them"
            )
        waiting.extend(inner)
    return found


@cache
def _loader() -> type[SafeLoader]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Gives up at a depth that no real file has."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.depth += 1
            if self.depth > _DEEPEST:
                raise RecursionError
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Loader
