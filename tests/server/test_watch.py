"""Pages hear of what changes in the stores; ended runs are compacted in between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.making import make_run
from tests.server.conftest import Caller
from tests.views.conftest import write_run

from stepscope.records import Alert, Dropped, End, RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import COMPACT, create_run, log_files
from stepscope.runs.write.writer import RunWriter
from stepscope.server import watch as watch_module
from stepscope.server.settings import Settings
from stepscope.server.tidy import REST_S, Tidy
from stepscope.server.watch import Watch
from stepscope.views.live import Hub, Live
from stepscope.views.open_runs import OpenRuns


class Told(Hub):
    """A hub that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.news: list[Live] = []

    def publish(self, news: Live) -> None:
        self.news.append(news)
        super().publish(news)


def test_a_run_made_since_the_last_look_is_answered(
    store: Path, client: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine nobody has looked for a minute; the run is on the disk all the same."""
    monkeypatch.setattr(watch_module, "STALE_S", 1e9)
    assert client.post("/api/runs").status_code == 200
    made = make_run(store, "new", series={"loss": [0.5]})
    for path, asked in (("/api/run", {"run": made.name}), ("/api/series", {"runs": [made.name], "keys": ["loss"]})):
        answer = client.post(path, asked)
        assert answer.status_code == 200, answer.text
        assert made.name in answer.text


@pytest.fixture
def hub() -> Told:
    return Told()


@pytest.fixture
def watch(catalogue: Catalogue, hub: Told, settings: Settings) -> Watch:
    return Watch(catalogue, OpenRuns(catalogue), hub, settings)


@pytest.fixture
def live_run(store: Path) -> Iterator[RunWriter]:
    meta = RunMeta(id=new_run_id(), project="demo", name="vae", created=time.time())
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=10, fsync_s=0)
    writer.keyset(("loss",)).write(0, (1.0,))
    yield writer
    writer.close()


def test_a_long_first_look_tells_pages_while_it_reads(
    watch: Watch, hub: Told, store: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.runs.catalogue.catalogue._PUBLISH_S", 0.0)
    monkeypatch.setattr(watch_module, "MOST_NAMED", 3)
    for number in range(6):
        make_run(store, f"run-{number}")
    watch.look()
    *during, last = hub.news
    assert len(during) >= 3
    assert all(not news.changed for news in during)
    versions = [news.version for news in hub.news]
    assert versions == sorted(set(versions))
    newest = sorted(entry.id for entry in catalogue.every())[-3:]
    assert [change.id for change in last.changed] == newest


def test_what_came_grew_and_went_is_told_once(watch: Watch, hub: Told, store: Path, live_run: RunWriter) -> None:
    run = live_run.path.name
    watch.look()
    live_run.keyset(("loss",)).write(1, (0.5,))
    watch.look()
    watch.look()
    live_run.close(End(time=time.time(), status="finished"))
    watch.look()
    assert [[(change.id, change.status) for change in news.changed] for news in hub.news] == [
        [(run, "running")],
        [(run, "running")],
        [(run, "finished")],
    ]
    versions = [news.changed[0].version for news in hub.news]
    assert versions == sorted(set(versions))
    live_run.path.rename(store.parent / "away")
    watch.look()
    assert hub.news[-1].gone == [run]


def test_a_failure_dropped_values_and_alerts_are_notices(
    watch: Watch, hub: Told, live_run: RunWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.views.open_runs.FRESH_S", -1.0)  # an open run is read on at every look
    run = live_run.path.name
    live_run.event(Alert(time=time.time() - 60, title="before the server came"))
    watch.look()
    live_run.event(Alert(time=time.time() + 1, title="loss is NaN", text="at step 7", level="error"))
    live_run.event(Dropped(time=time.time(), count=3, reason="disk full"))
    watch.look()
    assert [(notice.title, notice.level) for notice in hub.news[-1].notices] == [
        ("vae: 3 values could not be kept", "warning"),
        ("loss is NaN", "error"),
    ]
    live_run.close(End(time=time.time(), status="failed", error="ValueError: x"))
    watch.look()
    [notice] = hub.news[-1].notices
    assert (notice.run, notice.title, notice.text, notice.level) == (run, "vae failed", "ValueError: x", "error")


def test_what_was_so_before_the_server_came_is_no_news(watch: Watch, hub: Told, store: Path) -> None:
    write_run(store, end=End(time=1.0, status="failed", error="old"), events=[Alert(time=1.0, title="old")])
    watch.look()
    assert hub.news[0].notices == []


def test_a_listener_is_told_soon_and_a_fault_does_not_end_the_watch(
    watch: Watch, hub: Told, store: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh = catalogue.refresh
    faults = iter([OverflowError("a fault of ours"), OSError("unplugged")])

    def shaky(progress: object, only: object) -> object:
        for fault in faults:
            raise fault
        return refresh()

    monkeypatch.setattr(catalogue, "refresh", shaky)

    async def page() -> Live:
        stream = hub.listen()
        await anext(stream)
        write_run(store, "new one")
        news = await asyncio.wait_for(anext(stream), 5)
        await stream.aclose()
        return news

    watch.start()
    try:
        assert len(asyncio.run(page()).changed) == 1
    finally:
        watch.stop()


def test_runs_that_have_rested_are_compacted(store: Path, catalogue: Catalogue) -> None:
    long_ago = time.time() - 2 * REST_S
    rested = write_run(store, series={"loss": [0.5] * 3000}, end=End(time=long_ago, status="finished"))
    recent = write_run(store, series={"loss": [0.5] * 3000})
    tidy = Tidy()
    assert tidy.some(catalogue, threading.Event()) == 1
    assert [path.suffix for path in (store / rested / COMPACT).iterdir()] == [".log"]
    assert log_files(store / rested) == []
    assert not (store / recent / COMPACT).exists()
    catalogue.refresh()
    assert Tidy().some(catalogue, threading.Event()) == 0
    assert len(OpenRuns(catalogue).get(rested).series("loss")) == 3000
