"""Profiles of a run: listed, opened, answered, compared, asked for and saved; damage is said, never thrown."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from stepscope.errors import BadData, Forbidden, NotFound, UsageError
from stepscope.profile.profile import Profile
from stepscope.profile.store import new_folder, write_meta
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.records import Finding, FindingEvent
from stepscope.records.profile import Column, ProfileMeta, Sheet
from stepscope.views.context import Context
from stepscope.views.findings import RuleRequest, rule
from stepscope.views.profile import open_profiles
from stepscope.views.profile.advice import profile_advice
from stepscope.views.profile.answers import MAX_ROWS, shown_sheet
from stepscope.views.profile.diff import DiffRequest, ProfileRef, profile_diff
from stepscope.views.profile.download import ProfileDownloadRequest, profile_download
from stepscope.views.profile.open_profiles import Failed, profile_of
from stepscope.views.profile.profile import (
    AnswerRequest,
    ProfilePage,
    ProfileRequest,
    ProfilesRequest,
    profile,
    profile_answer,
    profiles,
)
from stepscope.views.profile.request import AskRequest, profile_request
from stepscope.views.route import Download

from .conftest import write_run

H200 = Path(__file__).parent.parent / "samples" / "traces" / "h200.json.gz"
MS = 1_000_000


def folder_of(store: Path, run: str, id: str = "p1") -> Path:
    return new_folder(store / run, id, 0)


def put(store: Path, run: str, id: str = "p1", *, wait_ms: int = 6, ranks: int = 1, **meta: Any) -> Path:
    """A profile of five steps, each 10 ms: waiting for data, then forward."""
    folder = folder_of(store, run, id)
    for rank in range(ranks):
        builder = Builder()
        for step in range(5):
            at = step * 10 * MS
            builder.add(f"ProfilerStep#{step}", "user_annotation", start=at, dur=10 * MS, pid=1, tid=1)
            builder.add("data", "phase", start=at, dur=wait_ms * MS, pid=1, tid=1, args={"step": step})
            builder.add("forward", "phase", start=at + wait_ms * MS, dur=4 * MS, pid=1, tid=1, args={"step": step})
            builder.add("aten::mm", "cpu_op", start=at + wait_ms * MS, dur=(3 + rank) * MS, pid=1, tid=1)
        save_events(builder.events(), folder / f"rank{rank}.events")
    write_meta(folder, ProfileMeta(**{"id": id, "kind": "pytorch", "created": 7.0, "world": ranks, **meta}))
    return folder


def opened_page(ctx: Context, run: str, id: str = "p1", rank: int | None = None) -> ProfilePage:
    return profile(ctx, ProfileRequest(run=run, profile=id, rank=rank))


def cells(ctx: Context, run: str, analysis: str, id: str = "p1") -> list[dict[str, Any]]:
    sheet = profile_answer(ctx, AnswerRequest(run=run, profile=id, analysis=analysis)).sheet
    assert sheet is not None
    return [dict(zip([column.key for column in sheet.columns], row, strict=True)) for row in sheet.rows]


# -- listing ----------------------------------------------------------------------------------------------------------


def test_the_profiles_of_a_run_are_listed_with_what_they_say_of_themselves(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run, "p1", first_step=20, last_step=24, why="asked for", host="box", notes=["short"])
    put(store, run, "p2", ranks=2)
    found = profiles(ctx, ProfilesRequest(run=run)).profiles
    assert [(one.id, one.first_step, one.last_step, one.why, one.ranks, one.error) for one in found] == [
        ("p1", 20, 24, "asked for", [0], None),
        ("p2", None, None, "", [0, 1], None),
    ]
    assert found[0].bytes > 100
    assert found[0].kinds == ["events"]
    assert found[0].notes == ["short"]


def test_a_run_without_profiles_has_none(ctx: Context, store: Path) -> None:
    found = profiles(ctx, ProfilesRequest(run=write_run(store)))
    assert (found.profiles, found.waiting_s) == ([], None)
    with pytest.raises(NotFound):
        profiles(ctx, ProfilesRequest(run="nobody"))


def test_a_damaged_description_is_said_in_its_place_and_the_others_stand(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run, "p1")
    (put(store, run, "p2") / "profile.json").write_text('{"id": ')
    first, second = profiles(ctx, ProfilesRequest(run=run)).profiles
    assert first.error is None
    assert second.error is not None
    assert "damaged" in second.error
    with pytest.raises(BadData, match="damaged"):
        opened_page(ctx, run, "p2")


# -- what a profile has -----------------------------------------------------------------------------------------------


def test_tabs_say_what_they_have_or_why_they_have_nothing(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run)
    page = opened_page(ctx, run)
    tabs = {tab.id: tab for tab in page.tabs}
    assert list(tabs)[:5] == ["overview", "operators", "kernels", "modules", "python"]
    assert {"phases", "steps"} <= {one.id for one in tabs["overview"].answers if one.kind == "parts"}
    assert [one.id for one in tabs["timeline"].answers] == ["timeline"]
    assert tabs["timeline"].answers[0].size == 20
    assert tabs["operators"].answers[0].id == "operators"
    assert tabs["operators"].why == ""
    assert "CPU" in tabs["kernels"].why
    assert "--profile-memory" in tabs["memory"].why
    assert all(tab.answers or tab.why for tab in page.tabs)
    assert (page.rank, page.damaged, page.profile.id) == (0, "", "p1")


def test_what_an_analysis_answered_reaches_the_page_unchanged(ctx: Context, store: Path) -> None:
    run = write_run(store)
    folder = put(store, run)
    answer = profile_answer(ctx, AnswerRequest(run=run, profile="p1", analysis="phases"))
    assert answer.kind == "parts"
    assert answer.parts is not None
    assert answer.rows == 5
    by_part = dict(zip([part.key for part in answer.parts.parts], answer.parts.typical_ns, strict=True))
    assert (by_part["data"], by_part["forward"]) == (6 * MS, 4 * MS)
    [row] = cells(ctx, run, "operators")
    assert Profile.load(folder).meta.id == "p1"
    assert 5 * 3 * MS in row.values()
    assert 5 in row.values()


def test_a_real_trace_of_a_gpu_has_kernels_whose_times_sum_to_the_raw_ones(ctx: Context, store: Path) -> None:
    run = write_run(store)
    folder = folder_of(store, run)
    shutil.copy(H200, folder / "rank0.trace.json.gz")
    write_meta(folder, ProfileMeta(id="p1", kind="opened", created=1.0))
    raw = [one for one in json.loads(gzip.decompress(H200.read_bytes()))["traceEvents"] if one.get("cat") == "kernel"]
    rows = cells(ctx, run, "kernels")
    assert sum(row["total_ns"] for row in rows) == pytest.approx(sum(one["dur"] for one in raw) * 1000, abs=len(raw))
    assert sum(row["calls"] for row in rows) == len(raw)
    assert json.loads(msgspec.json.encode(opened_page(ctx, run)))["tabs"]


def test_an_analysis_that_does_not_exist_or_has_nothing_is_told_apart(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run)
    assert profile_answer(ctx, AnswerRequest(run=run, profile="p1", analysis="kernels")).kind == "nothing"
    with pytest.raises(NotFound, match="no analysis 'kernls'"):
        profile_answer(ctx, AnswerRequest(run=run, profile="p1", analysis="kernls"))


def test_each_rank_answers_for_itself(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run, ranks=2)
    totals = []
    for rank in (0, 1):
        answer = profile_answer(ctx, AnswerRequest(run=run, profile="p1", analysis="operators", rank=rank))
        assert answer.sheet is not None
        totals.append(answer.sheet.rows[0])
    assert 15 * MS in totals[0]
    assert 20 * MS in totals[1]
    with pytest.raises(NotFound, match="no rank 7; it has 0, 1"):
        opened_page(ctx, run, rank=7)


def test_cells_are_plain_and_a_huge_sheet_is_cut() -> None:
    rows: list[list[Any]] = [["a", np.int64(3)], ["b", np.float64(0.5)], ["c", 2**60], ["d", float("nan")]]
    columns = [Column(key="name", label="name"), Column(key="n", label="n", unit="count")]
    sheet = Sheet(id="s", title="S", columns=columns, rows=rows * MAX_ROWS)
    shown = shown_sheet(sheet)
    assert len(shown.rows) == MAX_ROWS
    assert shown.rows[:4] == [["a", 3], ["b", 0.5], ["c", str(2**60)], ["d", "NaN"]]
    assert {type(row[1]) for row in shown.rows} == {int, float, str}
    msgspec.json.encode(shown)


# -- damage and attacks -----------------------------------------------------------------------------------------------


def test_damaged_events_are_said_once_and_every_page_still_answers(ctx: Context, store: Path) -> None:
    run = write_run(store)
    events = put(store, run) / "rank0.events"
    events.write_bytes(events.read_bytes()[:-30])
    page = opened_page(ctx, run)
    assert "rank0.events" in page.damaged
    assert all(tab.why for tab in page.tabs if not tab.answers)
    assert not any(one.kind == "failed" for tab in page.tabs for one in tab.answers)
    assert profile_answer(ctx, AnswerRequest(run=run, profile="p1", analysis="operators")).kind == "failed"
    advice = profile_advice(ctx, ProfileRequest(run=run, profile="p1"))
    assert "damaged" in advice.headline
    assert [note for note in advice.notes if "rank0.events" in note] == advice.notes


@pytest.mark.parametrize("name", ["..", "../p1", "/etc", "p1/../p1", "nothing", "", "."])
def test_only_a_profile_of_the_run_is_opened(ctx: Context, store: Path, name: str) -> None:
    run = write_run(store)
    put(store, run)
    with pytest.raises(NotFound):
        opened_page(ctx, run, name)


def test_links_lead_nowhere(ctx: Context, store: Path, tmp_path: Path) -> None:
    run, other = write_run(store), write_run(store)
    inside = put(store, run)
    (inside.parent / "linked").symlink_to(put(store, other), target_is_directory=True)
    with pytest.raises(NotFound):
        opened_page(ctx, run, "linked")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (inside / "rank0.prof").symlink_to(secret)
    with pytest.raises((BadData, NotFound)):
        saved(ctx, run, "prof")


def test_an_analysis_that_breaks_on_odd_data_takes_nothing_with_it(
    ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stepscope.profile.analyses import analysis

    def broken(_: object) -> Sheet:
        raise IndexError("index 3 is out of bounds")

    odd = analysis.Analysis("odd", "operators", "trace", broken)
    known = {**analysis.all_analyses(), "odd": odd}
    monkeypatch.setattr(analysis, "_analyses", known)
    run = write_run(store)
    put(store, run)
    [tab] = [one for one in opened_page(ctx, run).tabs if one.id == "operators"]
    assert [(one.id, one.kind) for one in tab.answers if one.id in ("odd", "operators")] == [
        ("operators", "sheet"),
        ("odd", "failed"),
    ]
    assert "IndexError" in tab.answers[-1].why


# -- kept open --------------------------------------------------------------------------------------------------------


def test_a_profile_stays_open_until_its_folder_changes(ctx: Context, store: Path) -> None:
    run = write_run(store)
    folder = put(store, run)
    first = profile_of(ctx, run, "p1")
    assert profile_of(ctx, run, "p1") is first
    numbers = iter([5, 6])
    assert [first.keep("x", lambda: next(numbers)), first.keep("x", lambda: next(numbers))] == [5, 5]
    (folder / "rank0.trace.json.gz.stepscope").write_bytes(b"a cache of ours")
    assert profile_of(ctx, run, "p1") is first
    shutil.copy(folder / "rank0.events", folder / "rank1.events")
    again = profile_of(ctx, run, "p1")
    assert again is not first
    assert again.profile.ranks == [0, 1]


def test_only_so_many_profiles_stay_open(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_profiles, "MOST_PROFILES", 2)
    run = write_run(store)
    for id in ("p1", "p2", "p3"):
        put(store, run, id)
        profile_of(ctx, run, id)
    assert len(ctx.profiles) == 2


# -- advice -----------------------------------------------------------------------------------------------------------


def test_the_verdict_names_the_bottleneck_with_its_numbers(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run)
    advice = profile_advice(ctx, ProfileRequest(run=run, profile="p1"))
    assert (advice.kind, advice.step_ns) == ("input", 10 * MS)
    assert "60" in advice.headline
    assert "6.0 ms of 10 ms" in advice.headline
    assert 0 <= advice.saving_ns <= advice.step_ns


def test_source_lines_come_from_the_run_folder_and_never_from_this_machine(
    ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stepscope.profile.advice import verdict
    from stepscope.profile.advice.headline import Headline

    finding = Finding(rule="perf.x", severity="warning", message="slow", file=__file__, line=3, fix="faster")
    said = verdict.Verdict(Headline("input", "slow"), [], [msgspec.structs.replace(finding, source=[(3, "x")])])
    monkeypatch.setattr(verdict, "verdict", lambda *_: said)
    kept = msgspec.structs.replace(finding, source=[(3, "kept = 1")], evidence={"measured": {"gain": 3.1, "steps": 9}})
    stranger, known = write_run(store), write_run(store, events=[FindingEvent(time=1.0, finding=kept)])
    for run in (stranger, known):
        put(store, run)
    [foreign] = profile_advice(ctx, ProfileRequest(run=stranger, profile="p1")).advice
    [own] = profile_advice(ctx, ProfileRequest(run=known, profile="p1")).advice
    assert foreign.finding.lines == []
    assert [line.before + line.marked for line in own.finding.lines] == ["kept = 1"]
    assert own.gain.startswith("3.1x, measured on 9 steps")


def test_advice_explains_itself_like_a_rule(ctx: Context) -> None:
    told = rule(ctx, RuleRequest("perf.launch-bound"))
    assert (told.id, told.severity) == ("perf.launch-bound", "warning")
    assert told.summary.startswith("The device runs out of work")
    assert "torch.compile" in told.good
    assert told.why


# -- diff -------------------------------------------------------------------------------------------------------------


def test_two_profiles_are_compared_by_what_a_step_takes(ctx: Context, store: Path) -> None:
    before, after = write_run(store, "before"), write_run(store, "after")
    put(store, before, wait_ms=5)
    put(store, after, wait_ms=6)
    found = profile_diff(ctx, DiffRequest(a=ProfileRef(before, "p1"), b=ProfileRef(after, "p1")))
    assert (found.a, found.b) == ("before", "after")
    [phases] = [sheet for sheet in found.sheets if sheet.id == "diff-phases"]
    changes = {row[0]: row[1] for row in phases.rows}
    assert changes["Data"] == 1 * MS
    same = profile_diff(ctx, DiffRequest(a=ProfileRef(before, "p1"), b=ProfileRef(before, "p1")))
    assert (same.a, same.b, same.faster) == ("p1", "p1", None)


def test_profiles_that_cannot_be_compared_are_a_message(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run, "p1")
    write_meta(folder_of(store, run, "p2"), ProfileMeta(id="p2", kind="simple", created=1.0))
    with pytest.raises((UsageError, BadData)):
        profile_diff(ctx, DiffRequest(a=ProfileRef(run, "p2"), b=ProfileRef(run, "p1")))


# -- the button -------------------------------------------------------------------------------------------------------


def test_a_running_script_is_asked_by_a_file_in_its_folder(ctx: Context, store: Path) -> None:
    run = write_run(store, end=None)
    assert profiles(ctx, ProfilesRequest(run=run)).why_no_request == ""
    assert profile_request(ctx, AskRequest(run=run)).requested
    asked = store / run / "profiles" / "request"
    assert json.loads(asked.read_text()) == {"steps": None}
    assert asked.stat().st_mode & 0o777 == 0o600
    listed = profiles(ctx, ProfilesRequest(run=run))
    assert listed.waiting_s is not None
    assert 0 <= listed.waiting_s < 30
    assert listed.profiles == []


def test_a_run_that_has_ended_or_may_not_be_changed_is_not_asked(ctx: Context, store: Path) -> None:
    over, run = write_run(store), write_run(store, end=None)
    with pytest.raises(Forbidden, match="ended"):
        profile_request(ctx, AskRequest(run=over))
    ctx.read_only = True
    with pytest.raises(Forbidden, match="read-only"):
        profile_request(ctx, AskRequest(run=run))
    assert not (store / run / "profiles").exists()


def test_a_request_never_leaves_the_run_folder(ctx: Context, store: Path, tmp_path: Path) -> None:
    run = write_run(store, end=None)
    (store / run / "profiles").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(BadData, match="link"):
        profile_request(ctx, AskRequest(run=run))
    assert not (tmp_path / "request").exists()


# -- files ------------------------------------------------------------------------------------------------------------


def saved(ctx: Context, run: str, kind: Any, **more: Any) -> Download:
    return profile_download(ctx, ProfileDownloadRequest(run=run, profile="p1", kind=kind, **more))


def test_a_table_is_saved_as_csv_with_all_its_rows(ctx: Context, store: Path) -> None:
    run = write_run(store, "my run")
    put(store, run)
    found = saved(ctx, run, "csv", analysis="operators")
    assert (found.mime, found.filename) == ("text/csv", "my-run-p1-operators.csv")
    head, row = csv.reader(io.StringIO((found.body or b"").decode()))
    assert "aten::mm" in row
    assert str(15 * MS) in row
    assert len(head) == len(row)
    with pytest.raises(NotFound, match="has no data"):
        saved(ctx, run, "csv", analysis="kernels")


def test_all_tables_come_in_one_zip(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run)
    names = zipfile.ZipFile(io.BytesIO(saved(ctx, run, "tables").body or b"")).namelist()
    assert {"operators.csv", "phases.csv", "steps.csv"} <= set(names)


def test_the_timeline_is_the_recorded_trace_or_one_made_of_the_table(ctx: Context, store: Path) -> None:
    run = write_run(store)
    folder = put(store, run)
    made = json.loads(gzip.decompress(saved(ctx, run, "chrome").body or b""))
    assert sum(one["name"] == "aten::mm" for one in made["traceEvents"]) == 5
    shutil.copy(H200, folder / "rank0.trace.json.gz")
    assert saved(ctx, run, "chrome").path == folder / "rank0.trace.json.gz"


def test_what_was_not_recorded_cannot_be_saved(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run)
    for kind in ("prof", "speedscope"):
        with pytest.raises(NotFound, match="stepscope profile"):
            saved(ctx, run, kind)
    assert isinstance(profile_of(ctx, run, "p1").answer("operators", 0), Sheet)
    assert not isinstance(profile_of(ctx, run, "p1").answer("operators", 0), Failed)


def test_two_pages_at_once_both_find_every_analysis(tmp_path: Path) -> None:
    """The second thread must not take for all there is what the first has imported so far."""
    script = """
import sys, threading
from stepscope.diagnose.rule import rules_for
from stepscope.profile.analyses.analysis import all_analyses
sys.setswitchinterval(1e-6)
found = []
look = lambda: found.append((len(all_analyses()), len(rules_for("profile"))))
threads = [threading.Thread(target=look) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(set(found)) == 1 and min(found[0]) > 20, found
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
