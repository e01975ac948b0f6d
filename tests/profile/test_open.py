"""Opening what other tools recorded: each kind, several ranks, folders, and everything that is none of these."""

from __future__ import annotations

import cProfile
import json
import pickle
import shutil
from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound, StepscopeError, UsageError
from stepscope.profile.analyses.analysis import analysis_named
from stepscope.profile.open import kind_of_file, open_profile
from stepscope.records.profile import Sheet

SAMPLES = Path(__file__).parents[1] / "samples" / "traces"


def test_a_trace_is_a_profile_of_its_steps(tmp_path: Path) -> None:
    profile = open_profile([SAMPLES / "h200_plain.json.gz"])
    trace = profile.trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [4, 5]
    assert (profile.meta.first_step, profile.meta.last_step) == (4, 5)
    assert profile.meta.why == "opened from h200_plain.json.gz"


def test_several_traces_are_ranks_by_what_they_say_of_themselves() -> None:
    # given in the wrong order on purpose
    profile = open_profile([SAMPLES / "two_ranks_rank1.json.gz", SAMPLES / "two_ranks_rank0.json.gz"])
    assert profile.ranks == [0, 1]
    assert profile.meta.world == 2
    sheet = analysis_named("ranks")(profile)
    assert isinstance(sheet, Sheet)
    assert [row[0] for row in sheet.rows] == [0, 1]


def test_kept_in_a_folder_it_needs_the_trace_no_more(tmp_path: Path) -> None:
    copy = tmp_path / "trace.json.gz"
    shutil.copy(SAMPLES / "h200_plain.json.gz", copy)
    kept = open_profile([copy], into=tmp_path / "profiles" / "opened")
    copy.unlink()
    again = open_profile([tmp_path / "profiles" / "opened"])
    assert again.meta == kept.meta
    sheets = [analysis_named("operators")(one) for one in (kept, again)]
    assert sheets[0] == sheets[1]


def test_a_log_folder_gives_the_newest_trace_of_each_worker(tmp_path: Path) -> None:
    logs = tmp_path / "log"
    logs.mkdir()
    raw = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "old", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}
    (logs / "node_77.1700000000000000000.pt.trace.json").write_text(json.dumps(raw))
    raw["traceEvents"][0]["name"] = "new"
    (logs / "node_77.1700000000000000009.pt.trace.json").write_text(json.dumps(raw))
    (logs / "events.out.tfevents.1").write_bytes(b"not ours")
    trace = open_profile([logs]).trace()
    assert trace is not None
    assert trace.events.names == ("new",)


def test_a_prof_file_is_a_call_tree(tmp_path: Path) -> None:
    profiler = cProfile.Profile()
    profiler.runcall(sorted, range(100), key=lambda n: -n)
    profiler.dump_stats(tmp_path / "run.prof")
    profile = open_profile([tmp_path / "run.prof"])
    stack = profile.stacks()
    assert stack is not None
    assert any("sorted" in name for name in stack.names)
    assert profile.trace() is None


def test_a_trace_and_a_prof_file_are_one_profile(tmp_path: Path) -> None:
    profiler = cProfile.Profile()
    profiler.runcall(sum, range(9))
    profiler.dump_stats(tmp_path / "run.prof")
    profile = open_profile([SAMPLES / "h200_plain.json.gz", tmp_path / "run.prof"])
    assert profile.trace() is not None
    assert profile.stacks() is not None


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path("/nonexistent/pwned").touch, ())


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.json", b"", "of no kind that can be opened"),
        ("words.txt", b"hello", "of no kind that can be opened"),
        ("no.json", b'{"a": 1}', ""),
        ("bad.json.gz", b"\x1f\x8bnot gzip at all", "cannot be unpacked"),
        ("bad.prof", b"\xff\xff\xff", ""),
        ("snapshot.pickle", pickle.dumps(Evil()), ""),
    ],
)
def test_what_is_nothing_of_that_gets_one_clear_error(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(StepscopeError) as caught:
        open_profile([path])
    assert says in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_and_folders_without_profiles_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no .*gone\.json"):
        open_profile([tmp_path / "gone.json"])
    with pytest.raises(NotFound, match="no profile in it"):
        open_profile([tmp_path])
    with pytest.raises(UsageError, match="nothing to open"):
        open_profile([])


def test_the_kind_of_a_file_is_told_by_its_beginning(tmp_path: Path) -> None:
    speedscope = tmp_path / "some.json"
    speedscope.write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}))
    assert kind_of_file(speedscope) == "speedscope"
    assert kind_of_file(SAMPLES / "h200.json.gz") == "trace"
    other = tmp_path / "x.bin"
    other.write_bytes(b"\x00\x01")
    with pytest.raises(BadData, match="expected a torch trace"):
        kind_of_file(other)
