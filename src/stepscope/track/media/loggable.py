"""The base of everything loggable: it turns itself into records and bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, runtime_checkable

from stepscope.errors import StepscopeError
from stepscope.fence import fenced
from stepscope.records import Media
from stepscope.track.secrets import mask_text

T = TypeVar("T")
Encoded = list[tuple[Media, "bytes | None"]]
"""Records with their bytes, in order. The writer decides where the bytes are stored and fills in hash and size."""


@runtime_checkable
class Loggable(Protocol):
    """Anything `run.log` accepts that is not a number.

    Creating one copies what the caller could change later and does no heavy work, so it is safe in the
    training loop; `encode` does the rest, on any thread, any number of times, and raises if the data is invalid.
    """

    def encode(self, key: str, step: int, time: float) -> Encoded: ...


def harmless(cls: type[T]) -> type[T]:
    """Make a class safe inside a training loop: its constructor never raises.

    `encode` then raises the error, which `run.log` prints as one line on stderr; after an internal error, which the
    fence has reported, it returns nothing.
    """
    make: Callable[..., None] = cls.__init__
    encode: Callable[..., Encoded] = cls.encode  # type: ignore[attr-defined]

    @fenced(f"making a stepscope.{cls.__name__}", default=False)
    def made(self: Any, *args: Any, **kwargs: Any) -> bool:
        try:
            make(self, *args, **kwargs)
        except StepscopeError as fault:
            self._fault = fault.with_traceback(None)  # which would keep the caller's variables alive
        return True

    @wraps(make)
    def checked_make(self: Any, *args: Any, **kwargs: Any) -> None:
        self._fault = None
        self._made = made(self, *args, **kwargs)

    @wraps(encode)
    def checked_encode(self: Any, key: str, step: int, time: float) -> Encoded:
        if self._fault is not None:
            raise self._fault
        return encode(self, key, step, time) if self._made else []

    cls.__init__ = checked_make  # type: ignore[method-assign]
    cls.encode = checked_encode  # type: ignore[attr-defined]
    return cls


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
    """The meta with the caption, if there is one, with secrets masked."""
    return meta if caption is None else {**meta, "caption": mask_text(str(caption))}


def comes_from(value: object, package: str, *names: str) -> bool:
    """Whether `value` is an instance of one of `package`'s classes (or a subclass), without importing it.

    >>> comes_from(1.5, "torch", "Tensor")
    False
    """
    return any(cls.__name__ in names and cls.__module__.partition(".")[0] == package for cls in type(value).__mro__)
