"""Routes: a view is a function from a request struct to a response struct, with its address beside it.

    @route("POST", "/api/runs")
    def runs(ctx: Context, request: RunsRequest) -> RunsPage: ...

Any module in this folder, or in a page's folder inside it, that has such a function is found by listing. The server
mounts what it finds and `scripts/types` writes its TypeScript, so adding a page is one file on each side. What comes
back decides how it travels: a struct as JSON, `Download` as bytes, an async iterator of structs as server-sent events.
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

__all__ = ["Download", "Empty", "Problem", "Route", "all_routes", "route"]

Method = Literal["GET", "POST"]
F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__stepscope_route__"


class Empty(msgspec.Struct):
    """A request that carries nothing."""


class Problem(msgspec.Struct):
    """What comes back instead of an answer, with a status of 400 or more."""

    error: str
    hint: str | None = None
    """What to do about it."""
    position: int | None = None
    """The character of a query that is wrong, counted from 0."""
    id: str | None = None
    """Names the details in the server's log, for an error of ours."""


@dataclass(frozen=True)
class Download:
    """Bytes for the browser instead of JSON."""

    mime: str
    body: bytes | None = None
    path: Path | None = None
    """A file to stream instead of `body`; its path was checked by the view."""
    pieces: Iterator[bytes] | None = None
    """Bytes that are made while they are sent, instead of `body`."""
    filename: str | None = None
    """Set: the browser saves it under this name instead of showing it."""
    page: bool = False
    """HTML from a run, to be shown in a frame of ours: it can run nothing and fetch nothing."""
    document: bool = False
    """HTML that we made and that carries its own policy: a shared report. It has an origin of its own."""
    immutable: bool = False
    """The address names the content by its hash, so a copy never goes stale."""


@dataclass(frozen=True)
class Route:
    """One address of the server and the function behind it."""

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
        """The struct that comes back (each event's struct, for a stream), or `Download`."""
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
    """Every route of the modules in a package's folder, in the order of their addresses."""
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
