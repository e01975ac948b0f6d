"""Who may send and fetch which runs: `stepscope sync` at a team's server."""

from __future__ import annotations

import msgspec
from starlette.requests import Request

from stepscope.errors import Forbidden, NotFound
from stepscope.files.decoding import MALFORMED
from stepscope.people.caller import EVERY, Caller, Scope
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.format.layout import META
from stepscope.server.doors import CALLER

_KEPT = 10_000


class _Project(msgspec.Struct):
    project: str


class SyncAccess:
    """A run belongs to the project that its `meta.json` names, which is sent first and never changes."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._projects: dict[str, str] = {}

    def listed(self, request: Request, runs: list[str]) -> list[str]:
        """Those of these runs that the caller may fetch."""
        caller = _caller(request)
        if caller.may("read", EVERY):
            return runs
        return [run for run in runs if self._may(caller, "read", run)]

    def check_held(self, request: Request, run: str) -> None:
        """How much of a run is here may be asked by who sends it or reads it; of an unknown run there is nothing."""
        caller = _caller(request)
        project = self._project_of(run)
        if project is None or caller.may("ingest", project) or self._may(caller, "read", run):
            return
        raise _refused(caller, "read", project)

    def check_read(self, request: Request, run: str) -> None:
        if not self._may(_caller(request), "read", run):
            raise NotFound(f"there is no run {run!r} here that you may see; ask an admin for a role in its project")

    def check_change(self, request: Request, run: str) -> None:
        """Delete or restore a run."""
        caller = _caller(request)
        project = self._project_of(run)
        if not caller.may("write", EVERY if project is None else project):
            raise _refused(caller, "write", project)

    def check_add(self, request: Request, run: str, name: str, data: bytes, *, whole: bool) -> tuple[str | None, str]:
        """The run's project and who sends it; refused if they may not.

        A new run's `meta.json` must come `whole`: a part of it could name another project than all of it.
        """
        caller = _caller(request)
        project = self._project_of(run)
        if project is None:
            project = _named_in(data) if name == META and whole else None
        if not caller.may("ingest", EVERY) and (project is None or not caller.may("ingest", project)):
            raise _refused(caller, "ingest", project)
        return project, caller.name

    def _may(self, caller: Caller, scope: Scope, run: str) -> bool:
        if caller.run is not None:
            return caller.run == run and scope == "read"
        project = self._project_of(run)
        return caller.may(scope, EVERY if project is None else project)

    def _project_of(self, run: str) -> str | None:
        """The project of a run that is here."""
        known = self._projects.get(run)
        if known is None:
            try:
                known = self._catalogue.entry(run).project
            except NotFound:
                return None
            if len(self._projects) >= _KEPT:
                self._projects.clear()
            self._projects[run] = known
        return known


def _named_in(data: bytes) -> str | None:
    """The project that a new run's `meta.json` names."""
    try:
        return msgspec.json.decode(data, type=_Project).project
    except MALFORMED:
        return None


def _refused(caller: Caller, scope: Scope, project: str | None) -> Forbidden:
    where = "a run of no known project" if project is None else f"project {project!r}"
    return Forbidden(f"{caller.name} may not {scope} in {where}; ask an admin for a role there")


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope[CALLER]
    return caller
