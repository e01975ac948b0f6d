"""Routes: a view is a function from a request struct to a response struct, with its address beside it.

    @route("POST", "/api/runs")
    def runs(ctx: Context, request: RunsRequest) -> RunsPage: ...

Such functions are discovered in all modules of this folder and of the page folders inside it. The server mounts them
and `scripts/types` writes their TypeScript, so adding a page is one file on each side. The return type decides the
encoding: a struct as JSON, `Download` as bytes, an async iterator of structs as server-sent events.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from stepscope.common.folders import modules_in

Method = Literal["GET", "POST"]
F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__stepscope_route__"


class Empty(msgspec.Struct):
    """A request without fields."""


class Problem(msgspec.Struct):
    """The response for an error, with a status of 400 or more."""

    error: str
    hint: str | None = None
    """What to do about it."""
    position: int | None = None
    """The offending character of a query, counted from 0."""
    id: str | None = None
    """Identifies the details in the server's log, for an internal error."""


@dataclass(frozen=True)
class Download:
    """Bytes for the browser instead of JSON."""

    mime: str
    body: bytes | None = None
    path: Path | None = None
    """A file to stream instead of `body`; the view has checked its path."""
    pieces: Iterator[bytes] | None = None
    """Bytes generated while they are sent, instead of `body`."""
    filename: str | None = None
    """If set, the browser saves it under this name instead of showing it."""
    page: bool = False
    """HTML from a run, shown in a sandboxed frame: it can execute nothing and fetch nothing."""
    document: bool = False
    """HTML made by Stepscope with its own policy: a shared report. It has its own origin."""
    immutable: bool = False
    """The address contains the content's hash, so a copy never becomes stale."""


@dataclass(frozen=True)
class Route:
    """One address of the server and its function."""

    method: Method
    path: str
    view: Callable[..., Any]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[str]:
        """The `{names}` in the path; they are fields of the request."""
        return re.findall(r"{(\w+)}", self.path)

    @cached_property
    def request(self) -> type[msgspec.Struct]:
        request: type[msgspec.Struct] = self._hints["request"]
        return request

    @cached_property
    def response(self) -> Any:
        """The response struct (for a stream, each event's struct), or `Download`."""
        answer = self._hints["return"]
        return get_args(answer)[0] if self.stream else answer

    @cached_property
    def stream(self) -> bool:
        return get_origin(self._hints["return"]) is AsyncIterator

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.view)


def route(method: Method, path: str) -> Callable[[F], F]:
    """Give a view its address; see the module's example."""

    def mark(view: F) -> F:
        setattr(view, _MARK, Route(method, path, view))
        return view

    return mark


def all_routes(package: str = "stepscope.views") -> list[Route]:
    """All routes in a package's folder, sorted by address."""
    found: dict[str, Route] = {}
    for loaded in modules_in(package, deeply=True):
        for value in vars(loaded).values():
            mark = getattr(value, _MARK, None)
            if not isinstance(mark, Route) or value.__module__ != loaded.__name__:
                continue
            if mark.name in found:
                raise TypeError(f"{mark.name} is both {_place(found[mark.name])} and {_place(mark)}")
            found[mark.name] = mark
    return [found[name] for name in sorted(found)]


def _place(route: Route) -> str:
    return f"{route.view.__module__}.{route.view.__name__}"
