"""Jobs that several processes share, and what they do: retention, quotas, the trash, and what fills the server."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.runs.making import make_run
from tests.runs.test_retention import artifact
from tests.sync.buckets import CREDENTIALS, make_bucket, s3_service
from tests.team import TOKEN, join, people_in, team_server

from stepscope.database.engine import Database
from stepscope.people.audit import audit_log
from stepscope.records import ArtifactUse, End
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.thin import is_thinned
from stepscope.runs.format.blobs import blob_path
from stepscope.runs.read.folder import open_run
from stepscope.runs.retention.plan import Policy
from stepscope.runs.trash import move_to_trash, purge, trashed_runs
from stepscope.runs.write.writer import RunWriter
from stepscope.server import quotas
from stepscope.server.housekeeper import Housekeeper
from stepscope.server.jobs import LEASE_S, Jobs
from stepscope.server.policies import Settings, read_policies, remove_settings, set_settings
from stepscope.server.quotas import Quotas, QuotaUsedUp
from stepscope.server.retention import RunKeeper
from stepscope.server.run_storage import by_project, largest_runs, used_by
from stepscope.sync.archive import manifest_of, read_from
from stepscope.sync.keep import Keep
from stepscope.sync.object_store import open_objects
from stepscope.sync.objects import Objects
from stepscope.sync.push import Pushed, patiently, push
from stepscope.sync.remote import Remote
from stepscope.sync.verify import verify

DAY_S = 86400.0


@pytest.fixture
def people(tmp_path: Path, database_url: str) -> Iterator[Database]:
    with people_in(tmp_path / "server", database_url) as people:
        yield people


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[Database]:
    with people_in(tmp_path / "server") as people:
        yield people


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "server"


def old_run(store: Path, points: int = 5000, project: str = "p") -> Path:
    """A run that ended 100 days ago."""
    number = random.Random(1).random
    values = [number() for _ in range(points)]
    return make_run(store, series={"loss": values}, created=time.time() - 100 * DAY_S, project=project)


def keep_house(home: Path, people: Database, objects: Objects | None = None) -> Housekeeper:
    with Catalogue(home) as catalogue:
        catalogue.refresh()
        keeper = Housekeeper(catalogue, home, objects, people, rest_s=0.0, retain_after_s=0.0)
        keeper.once()
        if Jobs(people).waiting():  # a clock that was set back has made them due a moment later
            keeper.once()
        assert (keeper.failing, Jobs(people).failing()) == (None, [])
        return keeper


# -- jobs -----------------------------------------------------------------------------------------------------------


def test_each_job_is_done_by_one_of_many(people: Database) -> None:
    Jobs(people).add("run", map(str, range(40)))
    Jobs(people).add("run", ["7", "39"])  # they wait already
    done: Counter[str] = Counter()
    lock = threading.Lock()

    def work() -> None:
        jobs = Jobs(people)
        while (job := jobs.take("run")) is not None:
            with lock:
                done[job.subject] += 1
            jobs.done(job)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == Counter(map(str, range(40)))
    assert Jobs(people).waiting() == 0


def test_what_one_process_has_seen_to_is_done_for_the_others(
    home: Path, people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(home, series={"loss": [1.0]}, created=time.time() - 100 * DAY_S)
    os.utime(run, (time.time() - DAY_S,) * 2)
    seen = list[str]()
    see_to = RunKeeper.see_to
    monkeypatch.setattr(RunKeeper, "see_to", lambda keeper, run, *more: (seen.append(run), see_to(keeper, run, *more)))
    with Catalogue(home) as one, Catalogue(home, index=Index(home.parent / "other")) as two:
        keepers = [Housekeeper(catalogue, home, None, people, rest_s=0.0) for catalogue in (one, two)]
        for hours in range(6):  # one has read all states of the run, and two the last, so they count its versions apart
            os.utime(run, (time.time() - 3600 * hours,) * 2)
            one.refresh()
        rounds = []
        for _ in range(4):
            seen.clear()
            make_run(home, series={"loss": [1.0]})  # something to do, so that they look again at what is done
            for catalogue, keeper in zip((one, two), keepers, strict=True):
                catalogue.refresh()
                keeper.once()
            rounds.append(run.name in seen)
    assert rounds == [True, False, False, False]


def test_a_job_of_a_dead_process_goes_to_another_and_a_failed_one_rests(lite: Database) -> None:
    now = [1000.0]
    first, second = (Jobs(lite, lambda: now[0]) for _ in range(2))
    first.add("run", ["a"])
    job = first.take("run")
    assert job is not None
    assert second.take("run") is None
    now[0] += LEASE_S + 1
    taken = second.take("run")
    assert taken is not None
    first.done(job)  # too late: it is not its own any more
    second.failed(taken, "the disk is full")
    assert second.take("run") is None
    assert [(one.subject, one.tries, one.error) for one in second.failing()] == [("a", 1, "the disk is full")]
    now[0] += 61
    again = second.take("run")
    assert again is not None
    second.done(again)
    assert first.waiting() == 0


# -- retention ------------------------------------------------------------------------------------------------------


def test_a_project_with_a_policy_is_thinned_and_others_are_not(home: Path, people: Database) -> None:
    thinned, kept = old_run(home, project="thin"), old_run(home, project="keep")
    set_settings(people, "project", "thin", Settings(Policy(points_days=30)))
    before = open_run(thinned).metric_summary("loss")
    keep_house(home, people)
    assert (is_thinned(thinned), is_thinned(kept)) == (True, False)
    after = open_run(thinned).metric_summary("loss")
    assert (after.count, after.min, after.max, after.last) == (before.count, before.min, before.max, before.last)
    assert verify(home, None).problems == {}
    assert [(one.user, one.action, one.subject) for one in audit_log(people)] == [("server", "retention", thinned.name)]
    set_settings(people, "project", "*", Settings(Policy(points_days=30)))
    keep_house(home, people)
    assert is_thinned(kept)


def test_an_artifact_that_a_run_uses_stays(home: Path, lite: Database) -> None:
    ended = time.time() - 100 * DAY_S
    maker = make_run(home, "maker", created=ended)
    versions = [artifact(maker, "model", number, b"%d" % number * 999, 500 - number) for number in range(3)]
    writer = RunWriter(maker, run_id=maker.name, heartbeat_s=0, fsync_s=0)
    for one in versions:
        writer.event(one)
    writer.close(End(time=ended, status="finished"))
    use = ArtifactUse(time=5000.0, name="model", digest=versions[1].digest, run=maker.name, version=1)
    make_run(home, "user", created=time.time() - 50 * DAY_S, events=[use])
    set_settings(lite, "project", "p", Settings(Policy(artifact_days=30)))
    keep_house(home, lite)
    assert [blob_path(maker, one.files[0].sha256).exists() for one in versions] == [False, True, True]


def test_what_was_removed_is_not_sent_again(store: Path, home: Path, lite: Database) -> None:
    run = old_run(store, project="p")
    with team_server(home, compact=False) as server, Remote(server.url, TOKEN) as remote:
        push([run], remote)
        set_settings(lite, "project", "p", Settings(Policy(points_days=1)))
        keep_house(home, lite)
        assert is_thinned(home / run.name)
        assert push([run], remote) == Pushed(runs=1)
        log = next(path for path in run.iterdir() if path.suffix == ".log")
        stored = Keep(home).add(run.name, log.name, 0, log.read_bytes(), before=0)
        assert stored.size == log.stat().st_size  # it is acknowledged, and nothing is written
        assert not (home / run.name / log.name).exists()


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_service() as address:
        yield address


def test_a_run_in_a_bucket_is_thinned_there_too(
    home: Path, lite: Database, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    make_bucket(s3, "keeping-house")
    objects = open_objects(f"s3://keeping-house/team?endpoint={s3}")
    run = old_run(home, points=60_000)
    with read_from(objects):
        keep_house(home, lite, objects)
        before = manifest_of(run)
        assert before is not None
        assert any(name.startswith("compact/5") for name in before.files)
        set_settings(lite, "project", "*", Settings(Policy(points_days=1)))
        keep_house(home, lite, objects)
        after = manifest_of(run)
        assert after is not None
        assert [name for name in after.files if name.startswith("compact/")] == ["compact/700000.log"]
        assert sum(one.size for one in after.files.values()) < sum(one.size for one in before.files.values()) / 2
        found = verify(home, objects, deep=True)
        assert (found.problems, found.orphans) == ({}, [])
        assert open_run(run).metric_summary("loss").count == 60_000
        keys = {key.partition("/")[2] for key in objects.keys(f"{run.name}/")}
        assert keys == {*after.files, ".manifest.json"}
        # Purged by hand: the objects go as well.
        move_to_trash(run)
        keep_house(home, lite, objects)
        assert [one.trash > 0 for one in by_project(lite)] == [True]
        keeper = keep_house(home, lite, objects)
        purge(trashed_runs([home])[0])
        with Catalogue(home) as catalogue:
            catalogue.refresh()
            keeper._catalogue = keeper._keeper._catalogue = catalogue
            keeper.once()
        assert list(objects.keys(run.name)) == []
        assert by_project(lite) == []


def test_the_trash_is_emptied_when_its_days_are_over(home: Path, people: Database) -> None:
    soon, later = old_run(home, project="soon", points=5), old_run(home, project="later", points=5)
    keep_house(home, people)
    for run in (soon, later):
        move_to_trash(run, now=time.time() - 10 * DAY_S)
    set_settings(people, "project", "soon", Settings(Policy(trash_days=9)))
    keep_house(home, people)
    assert [one.id for one in trashed_runs([home])] == [later.name]  # 30 days without a policy
    assert [one.project for one in by_project(people)] == ["later"]
    assert [(one.action, one.subject) for one in audit_log(people)] == [("purge", soon.name)]


def test_settings_fall_back_to_those_of_all(lite: Database) -> None:
    set_settings(lite, "project", "*", Settings(Policy(points_days=90), 10))
    set_settings(lite, "project", "p", Settings(Policy(media_newest=3)))
    found = read_policies(lite)
    assert found.project("p") == Settings(Policy(media_newest=3))
    assert found.project("q") == Settings(Policy(points_days=90), 10)
    remove_settings(lite, "project", "p")
    assert read_policies(lite).project("p").policy.points_days == 90


# -- what fills it, and how much may ----------------------------------------------------------------------------------


def test_sizes_are_by_kind_and_by_project(home: Path, people: Database) -> None:
    run = old_run(home, project="big")
    old_run(home, project="small", points=5)
    (run / "blobs").mkdir()
    (run / "blobs" / ("0" * 64)).write_bytes(b"x" * 10_000)
    keep_house(home, people)
    big, small = by_project(people)
    assert (big.project, small.project, big.runs, big.media, big.artifacts) == ("big", "small", 1, 10_000, 0)
    assert big.points > small.points > 0
    assert [row.run for row in largest_runs(people, None, "media", 1)] == [run.name]


def test_a_quota_refuses_what_goes_beyond_it(people: Database) -> None:
    set_settings(people, "project", "p", Settings(quota_bytes=1000))
    set_settings(people, "user", "*", Settings(quota_bytes=5000))
    one, two = Quotas(people), Quotas(people)
    with one.room("p", "ada", 900):
        with pytest.raises(QuotaUsedUp, match=r"project 'p'"), one.room("p", "bob", 101):
            pass  # another piece that arrives while the first is being written
        one.added("r1", "p", "ada", 900)
    with (
        pytest.raises(QuotaUsedUp, match=r"project 'p' has filled 900 B of a quota of 1000 B"),
        one.room("p", "ada", 101),
    ):
        pass
    with one.room("p", "bob", 100):
        pass  # it fits, and what was refused or not kept holds no place
    with one.room("p", "bob", 100):
        pass
    sent = {name: size for name, (_, size) in used_by(people, "user_name").items()}
    assert sent == {"ada": 900}  # also if the process dies now
    one.flush()
    two.flush()
    with pytest.raises(QuotaUsedUp, match="Nothing is lost"), two.room("p", "bob", 101):
        pass
    with two.room("free", "ada", 4000):
        pass
    with pytest.raises(QuotaUsedUp, match="ada has filled 900 B of a quota"), two.room("free", "ada", 4200):
        pass


def test_a_client_keeps_its_data_and_sends_it_later(
    store: Path, home: Path, lite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "AGAIN_S", 0.0)
    full, free = old_run(store, project="full"), old_run(store, project="free", points=10)
    set_settings(lite, "project", "full", Settings(quota_bytes=1000))
    sleeps: list[float] = []
    with team_server(home, compact=False) as server, Remote(server.url, join(lite, "bob")) as remote:
        done = push([full, free], remote)
        assert list(done.problems) == [full.name]
        assert "project 'full' has filled" in done.problems[full.name]
        assert "ask an admin for a larger quota" in done.problems[full.name]
        assert (home / free.name / "meta.json").exists()

        def rest(seconds: float) -> None:
            sleeps.append(seconds)
            set_settings(lite, "project", "full", Settings(quota_bytes=None))

        done = patiently(lambda: push([full], remote), follow_s=0.1, until=lambda done: not done.full, sleep=rest)
        assert (sleeps, done.problems) == ([60.0], {})
    assert {path.name for path in full.iterdir()} <= {path.name for path in (home / full.name).iterdir()}


# -- the calls of the page ------------------------------------------------------------------------------------------


def test_the_storage_page_shows_changes_and_previews(home: Path, lite: Database) -> None:
    run = old_run(home, project="vision")
    keep_house(home, lite)
    manager = join(lite, "mia", "admin", "vision")
    viewer = join(lite, "vic", "viewer", "vision")

    def call(path: str, token: str, **request: object) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}", "x-stepscope": "1"}
        return httpx.post(f"{server.url}/api/storage{path}", json=request, headers=headers, timeout=60)

    with team_server(home, compact=False) as server:
        found = call("", viewer).json()
        assert [(one["project"], one["runs"], one["may_change"]) for one in found["projects"]] == [
            ("vision", 1, False),
            ("*", 0, False),
        ]
        assert found["users"] == []
        assert [one["id"] for one in call("/runs", viewer, project="vision").json()["runs"]] == [run.name]
        assert call("/runs", viewer, project="other").status_code == 403
        wanted = {"points_days": 30}
        assert call("/policy", viewer, project="vision", retention=wanted).status_code == 403
        seen = call("/preview", manager, project="vision", retention=wanted).json()
        assert [(one["id"], one["points"] > 0) for one in seen["runs"]] == [(run.name, True)]
        assert not is_thinned(run)  # a dry run
        assert read_policies(lite).projects == {}
        changed = call("/policy", manager, project="vision", retention=wanted).json()
        assert changed["projects"][0]["retention"]["points_days"] == 30
        assert call("/policy", manager, project="vision", retention={"points_days": -1}).status_code == 400
        assert call("/quota", manager, kind="project", name="vision", quota_bytes=5).status_code == 403
        answer = call("/quota", TOKEN, kind="project", name="vision", quota_bytes=5).json()
        assert answer["projects"][0]["quota_bytes"] == 5
        assert answer["projects"][0]["retention"]["points_days"] == 30
        assert [one.action for one in audit_log(lite)][:2] == ["storage/quota", "storage/policy"]
