"""Lineage and lookups over the links in the database: the same answers as from reading every run."""

from __future__ import annotations

import dataclasses
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.team import people_in

from stepscope.database.engine import Database
from stepscope.errors import NotFound
from stepscope.records import Artifact, ArtifactUse, End, RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.visible import VisibleCatalogue
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.server.artifact_links import ArtifactLinks
from stepscope.server.run_table import RunTable
from stepscope.server.sql_catalogue import SqlCatalogue
from stepscope.views.context import Context
from stepscope.views.files.lineage import FindArtifactRequest, LineageRequest, find_artifact, lineage
from stepscope.views.live import Hub
from stepscope.views.open_runs import OpenRuns
from stepscope.views.series import LineCache


@pytest.fixture(params=["sqlite", "postgresql"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    with people_in(tmp_path / "people", url) as people:
        yield people


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Runs of two projects that log and use each other's artifacts."""
    luck, made = random.Random(3), list[Artifact]()
    for number in range(24):
        about = RunMeta(id=new_run_id(), project="ab"[number % 4 == 0], name=f"run-{number}", created=1.79e9 + number)
        writer = RunWriter(create_run(tmp_path / "runs", about), run_id=about.id, heartbeat_s=0, fsync_s=0)
        for one in luck.sample(made, min(len(made), luck.randrange(3))):
            writer.event(_use(one.name, one.digest))
        for _ in range(luck.randrange(3)):
            digest = f"{luck.randrange(1 << 20):064x}"
            name = luck.choice(["model", "data"])
            made.append(Artifact(time=about.created, name=name, version=number, digest=digest))
            writer.event(made[-1])
        writer.event(End(time=about.created + 60, status="finished"))
        writer.close()
    for run in (tmp_path / "runs").iterdir():
        os.utime(run, (about.created, about.created))  # settled: a stamp of its own would come a moment later
    return tmp_path / "runs"


def _catalogue(store: Path, people: Database) -> Catalogue:
    return SqlCatalogue(store, table=RunTable(people)) if people.is_postgresql else Catalogue(store)


def test_the_links_give_the_same_graphs_and_artifacts(store: Path, people: Database) -> None:
    with _catalogue(store, people) as every:
        every.refresh()
        links, compared = ArtifactLinks(people, every), 0
        for catalogue in (every, VisibleCatalogue(every, frozenset("a"))):
            plain = Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub())
            linked = dataclasses.replace(plain, links=links)
            for entry in catalogue.every():
                asked = LineageRequest(run=entry.id)
                expected, found = lineage(plain, asked), lineage(linked, asked)
                assert _facts(found.nodes) == _facts(expected.nodes)
                assert _facts(found.edges) == _facts(expected.edges)
                compared += len(found.edges)
            for name in ("model", "data", "none"):
                found_of = [_found(ctx, name) for ctx in (plain, linked)]
                assert found_of[0] == found_of[1]
        assert compared > 100


def test_a_run_is_read_once_and_again_when_it_changes(
    store: Path, people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _catalogue(store, people) as catalogue:
        catalogue.refresh()
        assert ArtifactLinks(people, catalogue).note(time.monotonic() + 60) == 0
        read = list[str]()

        def reading(some: list[RunEntry], deadline: float) -> list[object]:
            read.extend(entry.id for entry in some)
            return []

        monkeypatch.setattr("stepscope.server.artifact_links.read_until", reading)
        ArtifactLinks(people, catalogue).note(0.0)  # of another process
        assert read == []
        changed = catalogue.every()[0]
        writer = RunWriter(changed.path, run_id=changed.id, heartbeat_s=0, fsync_s=0)
        writer.event(_use("late", "f" * 64))
        writer.close()
        catalogue.refresh()
        ArtifactLinks(people, catalogue).note(0.0)
        assert read == [changed.id]


def _use(name: str, digest: str) -> ArtifactUse:
    return ArtifactUse(time=time.time(), name=name, digest=digest)


def _facts(items: list[msgspec.Struct]) -> list[bytes]:
    return sorted(map(msgspec.json.encode, items))


def _found(ctx: Context, name: str) -> object:
    try:
        return find_artifact(ctx, FindArtifactRequest(artifact=name, project="a"))
    except NotFound as fault:
        return str(fault)
