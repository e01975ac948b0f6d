"""Summary values set by hand: `run.summary["best_acc"] = 0.93`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, MutableSet
from typing import Any

from stepscope.track.config import flatten
from stepscope.track.names import as_name


class Summary(MutableMapping[str, Any]):
    """Summary values set by hand; each is recorded at once and overrides that of the series."""

    def __init__(self, record: Callable[[dict[str, Any]], None]) -> None:
        self._values: dict[str, Any] = {}
        self._record = record

    def update(self, other: Any = (), /, **more: Any) -> None:
        pairs = dict(other) if isinstance(other, list | tuple) else other
        changed = {**flatten(pairs), **flatten(more)}
        self._values.update(changed)
        if changed:
            self._record(changed)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        del self._values[name]
        self._record({name: None})

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Summary({self._values!r})"


class Tags(MutableSet[str]):
    """A run's tags, in order: `run.tags.add("baseline")`."""

    def __init__(self, tags: list[str], record: Callable[[list[str], list[str]], None]) -> None:
        self._tags = dict.fromkeys(tags)
        self._record = record

    def add(self, *tags: str) -> None:
        """Add one or more tags."""
        new = [tag for tag in map(as_name, tags) if tag not in self._tags]
        self._tags.update(dict.fromkeys(new))
        if new:
            self._record(new, [])

    def discard(self, *tags: str) -> None:
        """Remove tags; missing ones are ignored."""
        old = [tag for tag in map(as_name, tags) if tag in self._tags]
        for tag in old:
            del self._tags[tag]
        if old:
            self._record([], old)

    def __contains__(self, tag: object) -> bool:
        return tag in self._tags

    def __iter__(self) -> Iterator[str]:
        return iter(self._tags)

    def __len__(self) -> int:
        return len(self._tags)

    def __repr__(self) -> str:
        return repr(list(self._tags))
