"""A run that records nothing: `stepscope.init(mode="off")` or STEPSCOPE_MODE=off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class _NullKeyset:
    def write(self, step: int, values: Sequence[float], at: float | None = None) -> None:
        pass


class NullWriter:
    """A writer that discards everything."""

    def keyset(self, names: tuple[str, ...]) -> _NullKeyset:
        return _NullKeyset()

    def wide(self, step: int, values: Mapping[str, Any], at: float | None = None) -> None:
        pass

    def event(self, event: Any) -> None:
        pass

    def console(self, piece: Any) -> None:
        pass

    def media(self, media: Any, data: bytes | None = None) -> None:
        pass

    def decide(self) -> None:
        pass

    def flush(self, fsync: bool = True, timeout: float = 30.0) -> bool:
        return True

    def close(self, end: Any = None, timeout: float = 30.0) -> None:
        pass
