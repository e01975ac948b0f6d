"""One run in full, and changing what a person may change of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stepscope.errors import NotFound, UsageError
from stepscope.records import (
    Alert,
    Dropped,
    End,
    Environment,
    FaultNote,
    Finding,
    FindingEvent,
    GitState,
    Media,
    SummaryUpdate,
)
from stepscope.views.context import Context
from stepscope.views.edit import Edited, EditRequest, Refused, edit
from stepscope.views.info import info
from stepscope.views.route import Empty
from stepscope.views.run import Parts, RunRequest, SummaryValue, run
from stepscope.views.runs import RunsRequest, runs

from .conftest import histogram, write_run


def test_a_run_that_failed_tells_its_whole_story(ctx: Context, store: Path) -> None:
    run_id = write_run(
        store,
        "it broke",
        {"loss": [2.0, 1.0, float("nan")]},
        events=[
            Alert(time=1.0, title="loss is NaN", level="error"),
            FindingEvent(time=1.0, finding=Finding(rule="opt.no-zero-grad", severity="error", message="piled up")),
            Dropped(time=1.0, count=7, reason="the disk is full"),
            FaultNote(time=1.0, where="the GPU sampler", error="OSError: gone"),
            SummaryUpdate(time=1.0, values={"best": 0.5}),
        ],
        end=End(time=2.0, status="failed", error="ValueError: x", traceback="Traceback ...", exit_code=1),
        config={"lr": 0.1},
        command=["python", "train.py"],
        git=GitState(commit="abc", branch="main", dirty=True),
        packages={"torch": "2.5"},
    )
    detail = run(ctx, RunRequest(run=run_id))
    assert (detail.name, detail.status, detail.error, detail.exit_code) == ("it broke", "failed", "ValueError: x", 1)
    assert (detail.traceback, detail.status_detail) == ("Traceback ...", "ValueError: x")
    assert (detail.config, detail.command, detail.environment.packages) == (
        {"lr": 0.1},
        ["python", "train.py"],
        {"torch": "2.5"},
    )
    assert detail.git is not None
    assert detail.git.branch == "main"
    assert [alert.title for alert in detail.alerts] == ["loss is NaN"]
    assert [finding.rule for finding in detail.findings] == ["opt.no-zero-grad"]
    assert (detail.watched, detail.looked_at) == (True, ["1 loss or metric", "the traceback", "the config"])
    assert (detail.dropped, detail.dropped_reasons) == (7, ["the disk is full"])
    assert detail.faults == ["the GPU sampler: OSError: gone"]
    assert detail.summary == [
        SummaryValue(
            key="loss", last="NaN", min=1.0, max=2.0, mean=1.5, points=3, nonfinite=1, last_step=2, chosen="NaN"
        ),
        SummaryValue(key="best", chosen=0.5),
    ]
    assert [attempt.status for attempt in detail.attempts] == ["failed"]
    assert detail.editable


def test_what_was_gathered_late_completes_the_environment(ctx: Context, store: Path) -> None:
    late = Environment(
        time=1.0, git=GitState(commit="abc", diff="+1"), packages={"torch": "2.5"}, hardware={"gpus": []}
    )
    run_id = write_run(store, events=[late], packages={"numpy": "2"}, hardware={"cpu_count": 2})
    detail = run(ctx, RunRequest(run=run_id))
    assert detail.git == GitState(commit="abc", diff="+1")
    assert detail.environment.packages == {"numpy": "2", "torch": "2.5"}
    assert detail.environment.hardware == {"cpu_count": 2, "gpus": []}


def test_a_page_that_follows_a_run_leaves_out_what_never_changes(ctx: Context, store: Path) -> None:
    git = GitState(commit="abc", dirty=True, diff="+1" * 1000)
    run_id = write_run(store, series={"loss": [1.0]}, git=git, packages={"torch": "2.5"}, config={"lr": 1})
    whole, brief = run(ctx, RunRequest(run=run_id)), run(ctx, RunRequest(run=run_id, brief=True))
    assert brief.git == GitState(commit="abc", dirty=True)
    assert (brief.environment.packages, brief.config, brief.summary) == ({}, {"lr": 1}, whole.summary)


def test_each_part_of_the_page_is_counted(ctx: Context, store: Path) -> None:
    def medium(key: str, kind: str) -> tuple[Media, bytes]:
        return Media(key=key, step=0, time=0.0, kind=kind), b"x"

    run_id = write_run(
        store,
        series={"loss": [1.0], "acc": [1.0], "system/cpu_percent": [5.0]},
        media=[medium("a", "image"), medium("b", "text"), medium("recording", "step"), histogram("w", 0, [0, 1], [1])],
    )
    assert run(ctx, RunRequest(run=run_id)).parts == Parts(metrics=2, media=2, distributions=1, recordings=1, system=1)


def test_a_run_that_is_not_there(ctx: Context, store: Path) -> None:
    with pytest.raises(NotFound, match="there is no run"):
        run(ctx, RunRequest(run="../../etc/passwd"))


def test_tags_notes_and_name_can_be_changed(ctx: Context, store: Path) -> None:
    one, two = write_run(store, "one", tags=["old"]), write_run(store, "two")
    files = set((store / one).iterdir())
    change = EditRequest(runs=[one, two], add_tags=["good"], remove_tags=["old"], notes="look **here**", name="better")
    assert edit(ctx, change) == Edited(changed=[one, two], refused=[])
    rows = runs(ctx, RunsRequest()).rows
    assert [(row.name, row.tags, row.notes) for row in rows] == [("better", ["good"], "look **here**")] * 2
    assert run(ctx, RunRequest(run=one)).tags == ["good"]
    [new] = set((store / one).iterdir()) - files
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert run(ctx, RunRequest(run=one)).status == "finished"  # an edit is no sign of life


def test_a_server_that_only_reads_refuses_politely(ctx: Context, store: Path) -> None:
    one = write_run(store)
    ctx.read_only = True
    refused = edit(ctx, EditRequest(runs=[one], name="x"))
    assert refused == Edited(changed=[], refused=[Refused(run=one, reason="this server was started read-only")])
    assert info(ctx, Empty()).read_only


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_folder_that_only_reads_refuses_politely(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = write_run(store), write_run(store)
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: one not in str(path) and access(path, mode))  # root may write
    answer = edit(ctx, EditRequest(runs=[one, two, "0" * 26], add_tags=["x"]))
    assert answer.changed == [two]
    assert [(refusal.run, "read-only" in refusal.reason) for refusal in answer.refused] == [
        (one, True),
        ("0" * 26, False),
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [({}, "nothing to change"), ({"name": "  "}, "cannot be empty"), ({"add_tags": [""]}, "cannot be empty"),
     ({"notes": "x" * 200_000}, "200000 characters"), ({"add_tags": ["x"] * 60}, "60 tags at once")],
)  # fmt: skip
def test_a_change_that_makes_no_sense_is_refused(ctx: Context, change: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        edit(ctx, EditRequest(runs=[], **change))  # type: ignore[arg-type]


def test_info_tells_what_is_served(ctx: Context, store: Path) -> None:
    write_run(store, project="vae")
    write_run(store, project="gan")
    found = info(ctx, Empty())
    assert (found.projects, found.runs, found.read_only) == (["gan", "vae"], 2, False)
    assert [(one.path, one.writable) for one in found.stores] == [(str(store), True)]
