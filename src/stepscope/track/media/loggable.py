"""What everything that can be logged has in common: it turns itself into records and bytes."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from stepscope.records import Media
from stepscope.track.secrets import mask_shapes

__all__ = ["Encoded", "Loggable", "captioned", "comes_from", "one"]

Encoded = list[tuple[Media, "bytes | None"]]
"""Records with their bytes, in order. The writer decides where the bytes go and fills in hash and size."""


@runtime_checkable
class Loggable(Protocol):
    """Anything `run.log` keeps that is not a number.

    Making one copies what the caller could change later and does no heavy work, so it can be done inside the
    training loop; `encode` does the rest, on any thread, as often as one likes.
    """

    def encode(self, key: str, step: int, time: float) -> Encoded: ...


def one(
    key: str,
    step: int,
    time: float,
    *,
    kind: str,
    mime: str,
    data: bytes,
    meta: dict[str, Any],
    caption: str | None = None,
) -> Encoded:
    """The usual case: one record with its bytes."""
    return [(Media(key=key, step=step, time=time, kind=kind, mime=mime, meta=captioned(meta, caption)), data)]


def captioned(meta: dict[str, Any], caption: str | None) -> dict[str, Any]:
    """The meta with the caption, secrets masked, if there is one."""
    return meta if caption is None else {**meta, "caption": mask_shapes(str(caption))}


def comes_from(value: object, package: str, *names: str) -> bool:
    """Is `value` an instance of one of `package`'s classes (or of a subclass), told without importing it?

    >>> comes_from(1.5, "torch", "Tensor")
    False
    """
    return any(cls.__name__ in names and cls.__module__.partition(".")[0] == package for cls in type(value).__mro__)
