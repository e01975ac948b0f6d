"""An artifact's origins and derivatives, and artifact lookup by name, over all runs the user may see."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Literal

import msgspec

from stepscope.errors import NotFound
from stepscope.records import Artifact
from stepscope.runs.artifact_lookup import Kept, choose_kept, parse
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.selection import Selection
from stepscope.runs.lineage import RunArtifacts
from stepscope.views.context import Context
from stepscope.views.files.artifact_index import read_until
from stepscope.views.files.artifacts import version_of
from stepscope.views.plain import plain
from stepscope.views.route import route

LIMIT_S = 8.0
MOST = 200
"""Maximum number of nodes; a larger graph would be unreadable."""


class LineageRequest(msgspec.Struct):
    run: str
    name: str | None = None
    """An artifact of the run; without one, everything it logged and used."""
    version: int | None = None


class LineageNode(msgspec.Struct):
    id: str
    kind: Literal["run", "artifact"]
    name: str
    run: str = ""
    """The run itself, or the one whose copy of the artifact can be opened."""
    project: str = ""
    type: str = ""
    version: int = 0
    """The version in that run."""
    aliases: list[str] = []
    bytes: int = 0
    time: float = 0.0
    status: str = ""
    focus: bool = False


class LineageEdge(msgspec.Struct):
    source: str
    target: str


class LineageGraph(msgspec.Struct):
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    """From a run to what it made, and from an artifact to the runs that used it."""
    omitted: int = 0
    """Number of more distant nodes that are omitted."""
    unread: int = 0
    """Number of runs not read yet, because there are many; repeat the request to continue."""


@route("POST", "/api/lineage")
def lineage(ctx: Context, request: LineageRequest) -> LineageGraph:
    """The runs and artifacts connected with a run or one of its artifacts, nearest first."""
    folder = ctx.runs.get(request.run)
    mine = ctx.catalogue.entry(request.run)
    graph = _Graph()
    near, unread = _connected(ctx, mine)
    for entry, found in read_until(near, time.monotonic() + LIMIT_S):
        if found is None:
            unread += 1
        else:
            graph.add(entry, found)
    start = _run_id(request.run)
    if request.name is not None and request.version is not None:
        start = _artifact_id(request.name, version_of(folder, request.name, request.version).digest)
    return graph.around(start, unread)


def _connected(ctx: Context, mine: RunEntry) -> tuple[list[RunEntry], int]:
    """The runs to read, and how many are not known yet: all of them, or those of which a server has noted the links."""
    if ctx.links is None:
        found, unread = ctx.catalogue.every(), 0
    else:
        unread = ctx.links.note(time.monotonic() + LIMIT_S)
        near = ctx.links.around(mine.id, lambda run: _entry(ctx, run) is not None)
        found = [entry for run in near if (entry := _entry(ctx, run)) is not None]
    return [mine, *sorted(found, key=lambda entry: (entry.project != mine.project, -entry.created))], unread


def _entry(ctx: Context, run: str) -> RunEntry | None:
    """A run, if it is there and the user may see it."""
    try:
        return ctx.catalogue.entry(run)
    except NotFound:
        return None


def _run_id(run: str) -> str:
    return f"run {run}"


def _artifact_id(name: str, digest: str) -> str:
    return f"artifact {digest} {name}"


class _Graph:
    def __init__(self) -> None:
        self._nodes: dict[str, LineageNode] = {}
        self._edges: dict[tuple[str, str], None] = {}
        self._given: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
        """By project, name and alias: when it was given to which node."""

    def add(self, entry: RunEntry, found: RunArtifacts) -> None:
        run = _run_id(entry.id)
        self._nodes[run] = LineageNode(
            run, "run", entry.name, entry.id, entry.project, time=entry.created, status=entry.status
        )
        made = {(one.name, one.digest) for one in found.made}
        for one in found.logged:
            node = self._artifact(entry, one)
            if (one.name, one.digest) in made:
                self._edges[run, node] = None
        for use in found.used:
            node = _artifact_id(use.name, use.digest)
            if node not in self._nodes:  # from a run that is deleted or not visible to the user
                known = LineageNode(node, "artifact", use.name, type=use.type, version=use.version, time=use.time)
                self._nodes[node] = known
            self._edges[node, run] = None

    def _artifact(self, entry: RunEntry, one: Artifact) -> str:
        id = _artifact_id(one.name, one.digest)
        known = self._nodes.get(id)
        aliases = list(dict.fromkeys([*(known.aliases if known else ()), *one.aliases]))
        for alias in one.aliases:
            self._given.setdefault((entry.project, one.name, alias), []).append((one.time, id))
        if known is not None and known.run and known.time <= one.time:
            known.aliases = aliases
            return id
        size = sum(file.size for file in one.files)
        self._nodes[id] = LineageNode(
            id, "artifact", one.name, entry.id, entry.project, one.type, one.version, aliases, size, one.time
        )
        return id

    def around(self, start: str, unread: int) -> LineageGraph:
        """Everything connected with a node, in either direction."""
        near: dict[str, list[str]] = {}
        for source, target in self._edges:
            near.setdefault(source, []).append(target)
            near.setdefault(target, []).append(source)
        seen = {start: None}
        queue = deque([start])
        while queue:
            for other in near.get(queue.popleft(), ()):
                if other not in seen:
                    seen[other] = None
                    queue.append(other)
        shown = set(list(seen)[:MOST])
        if start in self._nodes:
            self._nodes[start].focus = True
        edges = [LineageEdge(a, b) for a, b in self._edges if a in shown and b in shown]
        nodes = [self._nodes[id] for id in seen if id in shown and id in self._nodes]
        current = set()  # an alias refers to the newest artifact it was assigned to
        for (_, _, alias), given in self._given.items():
            connected = [one for one in given if one[1] in seen]
            if connected:
                current.add((max(connected)[1], alias))
        for node in nodes:
            node.aliases = [alias for alias in node.aliases if (node.id, alias) in current]
        return LineageGraph(nodes, edges, len(seen) - len(shown), unread)


# -- by name --------------------------------------------------------------------------------------------------------


class FindArtifactRequest(msgspec.Struct):
    artifact: str
    """`name`, `name:v2`, `name:best`, or with the project as prefix: `vision/name:best`."""
    project: str = ""


class FoundFile(msgspec.Struct):
    path: str
    sha256: str
    size: int
    mime: str
    reference: str | None = None


class FoundArtifact(msgspec.Struct):
    """An artifact with everything needed to fetch its files: `GET /api/blob/{run}/{sha256}`, by ranges."""

    run: str
    project: str
    name: str
    type: str
    version: int
    """Its version among all contents that its project has logged under this name."""
    run_version: int
    """Its version within the run."""
    digest: str
    time: float
    aliases: list[str]
    metadata: dict[str, Any]
    files: list[FoundFile]


def _with_artifact(ctx: Context, project: str, name: str, deadline: float) -> list[RunEntry]:
    """The runs that may have logged an artifact of this name: those of a project, or a run by its id."""
    if ctx.links is not None and ctx.links.note(deadline) == 0:
        near = {*ctx.links.with_name(project, name), project}
        named = [entry for run in sorted(near, reverse=True) if (entry := _entry(ctx, run)) is not None]
        if named:
            return named
    return [
        *ctx.catalogue.selected(Selection(projects=frozenset((project,)))),
        *(entry for entry in [_entry(ctx, project)] if entry is not None),
    ]


@route("POST", "/api/artifact/find")
def find_artifact(ctx: Context, request: FindArtifactRequest) -> FoundArtifact:
    """The artifact that a reference names in a project."""
    wanted = parse(request.artifact)
    project = wanted.project or request.project
    deadline = time.monotonic() + 60
    kept: list[Kept] = []
    for entry, found in read_until(_with_artifact(ctx, project, wanted.name, deadline), deadline):
        if found is None:
            raise NotFound(f"run {entry.id} cannot be read right now; ask again for {request.artifact!r}")
        kept += [Kept(entry.path, entry.project, record) for record in found.logged]
    kept.sort(key=lambda one: one.record.time)
    one, version = choose_kept(kept, wanted, f"project '{project}'")
    record = one.record
    return FoundArtifact(
        run=one.run.name,
        project=one.project,
        name=record.name,
        type=record.type,
        version=version,
        run_version=record.version,
        digest=record.digest,
        time=record.time,
        aliases=list(record.aliases),
        metadata=plain(record.metadata),
        files=[FoundFile(file.path, file.sha256, file.size, file.mime, file.reference) for file in record.files],
    )
