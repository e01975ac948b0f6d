"""What a view is given depends on who asks: the runs, alerts and changes of the projects they may see, nothing else."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request

from stepscope.errors import NotFound
from stepscope.people.caller import Caller, Scope
from stepscope.runs.catalogue.visible import VisibleCatalogue
from stepscope.server.doors import CALLER
from stepscope.server.permissions import need_of, scope_of
from stepscope.views.alert_log import AlertLog
from stepscope.views.context import Context
from stepscope.views.live import Hub, Live
from stepscope.views.notice import Notice
from stepscope.views.open_runs import OpenRuns

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_KEPT = 64
"""Contexts that stay for the next request; each has an index for its searches."""


class Contexts:
    """Hands out contexts. The local user and people who see everything share one."""

    def __init__(self, base: Context, still_valid: Callable[[Caller], Awaitable[bool]] | None = None) -> None:
        self.base = base
        self._still_valid = still_valid
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[object, ...], Context] = OrderedDict()

    def of(self, request: Request, name: str) -> Context:
        """What the route `name` is given for a request."""
        caller = request.scope.get(CALLER)
        if not isinstance(caller, Caller):  # only a public route is reached without one
            return self.base
        made = self.for_caller(caller, scope_of(need_of(name)))
        if name == "GET /api/live" and self._still_valid is not None:
            return dataclasses.replace(made, hub=_CheckedHub(made.hub, caller, self._still_valid))
        return made

    def for_caller(self, caller: Caller, scope: Scope = "read") -> Context:
        """A context that shows the runs of the projects where the caller has this scope."""
        projects = caller.projects(scope) if caller.run is None else frozenset[str]()
        may_write = caller.may_somewhere("write")
        if caller.kind == "local" or (projects is None and may_write and caller.name == self.base.user):
            return self.base
        key = (projects, caller.run, caller.name, may_write)
        with self._lock:
            known = self._made.pop(key, None) or self._limited(caller, projects, may_write)
            self._made[key] = known
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
            return known

    def _limited(self, caller: Caller, projects: frozenset[str] | None, may_write: bool) -> Context:
        base, read_only = self.base, self.base.read_only or not may_write
        if projects is None:
            return dataclasses.replace(base, read_only=read_only, user=caller.name)
        catalogue = VisibleCatalogue(base.catalogue, projects, caller.run)

        return dataclasses.replace(
            base,
            catalogue=catalogue,
            runs=_SharedRuns(catalogue, base.runs),
            hub=_VisibleHub(base.hub, catalogue),
            alerts=_VisibleAlerts(base.alerts, catalogue),
            read_only=read_only,
            user=caller.name,
            sees=projects.__contains__,
            search=None,
        )


class _SharedRuns(OpenRuns):
    """Runs that are open for others are open for all who may see them."""

    def __init__(self, catalogue: VisibleCatalogue, inner: OpenRuns) -> None:
        self._visible = catalogue
        self._inner = inner

    def __len__(self) -> int:
        return len(self._inner)

    def get(self, run_id: str) -> RunFolder:
        self._visible.entry(run_id)
        return self._inner.get(run_id)


class _VisibleHub(Hub):
    """Tells a page of the runs it may see."""

    def __init__(self, inner: Hub, catalogue: VisibleCatalogue) -> None:
        self._inner = inner
        self._catalogue = catalogue

    async def listen(self) -> AsyncGenerator[Live, None]:
        async for news in self._inner.listen():
            seen = [change for change in news.changed if _sees(self._catalogue, change.id)]
            said = [topic for topic in news.comments if _sees(self._catalogue, topic.removeprefix("run:"))]
            notices = _visible(self._catalogue, news.notices)
            yield msgspec.structs.replace(news, changed=seen, notices=notices, comments=said)


class _CheckedHub(Hub):
    """Ends a stream when its token was revoked or has expired, or its user has other roles; the page asks again."""

    def __init__(self, inner: Hub, caller: Caller, still_valid: Callable[[Caller], Awaitable[bool]]) -> None:
        self._inner = inner
        self._caller = caller
        self._still_valid = still_valid

    async def listen(self) -> AsyncGenerator[Live, None]:
        async for news in self._inner.listen():
            if not await self._still_valid(self._caller):
                return
            yield news


class _VisibleAlerts(AlertLog):
    def __init__(self, inner: AlertLog, catalogue: VisibleCatalogue) -> None:
        self._inner = inner
        self._catalogue = catalogue

    def history(self) -> Sequence[Notice]:
        return _visible(self._catalogue, self._inner.history())


def _visible(catalogue: VisibleCatalogue, notices: Sequence[Notice]) -> list[Notice]:
    return [notice for notice in notices if _sees(catalogue, notice.run)]


def _sees(catalogue: VisibleCatalogue, run: str) -> bool:
    try:
        catalogue.entry(run)
    except NotFound:
        return False
    return True
