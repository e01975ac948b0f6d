"""What a stuck job says: who waits where, who does something else, and where the ranks part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from stepscope.common.units import duration
from stepscope.diagnose.hangs import explain, finding_of, place_in_doubt, read_hang, wait_in_vain, waiting_words
from stepscope.records.hang import Call, Hang, RankState


def waits(rank: int, line: int = 88, number: int = 7, **more: Any) -> RankState:
    where = {"kind": "collective", "doing": "all_reduce", "file": "/a/train.py"}
    return RankState(rank=rank, number=number, line=line, **where, **more)


def hang(*ranks: RankState) -> Hang:
    return Hang(time=100.0, ranks=ranks, idle_s=30.0)


def test_a_barrier_for_one_rank_is_the_line_in_doubt() -> None:
    others = [RankState(rank=rank, kind="python", doing="eval()", file="/a/train.py", line=9) for rank in (1, 2, 3)]
    found = finding_of(hang(waits(0), *others))
    said = "no progress for 30 s: rank 0 waits in all_reduce #7 (train.py:88); ranks 1-3 are in eval() (train.py:9)"
    assert (found.message, found.file, found.line, found.label) == (said, "/a/train.py", 88, "rank 0 is here")
    assert [(one.line, one.label) for one in found.related] == [(9, "ranks 1-3 are here")]


def test_who_calls_a_function_that_any_rank_may_call_is_named() -> None:
    main = ("/a/train.py", 90, "<module>")
    mean = ("/a/train.py", 7, "mean_over_ranks")
    logs = waits(0, 7, stack=(main, ("/a/train.py", 33, "train"), mean))
    trains = RankState(
        rank=1,
        kind="backward",
        doing="backward",
        file="/a/train.py",
        line=30,
        stack=(main, ("/a/train.py", 30, "train")),
    )
    found = finding_of(hang(logs, trains))
    assert "rank 0 waits in all_reduce #7 (train.py:7, called at line 33); rank 1" in found.message
    assert [(one.line, one.label) for one in found.related] == [
        (33, "rank 0 has called it here"),
        (30, "rank 1 is here"),
    ]
    both = [waits(0, 7, stack=(main, mean)), waits(1, 8, stack=(main, ("/a/train.py", 8, "mean_over_ranks")))]
    assert "called" not in explain(hang(*both))


def test_fewer_batches_are_the_reason() -> None:
    late = RankState(rank=1, kind="ended", step=9, batches=9)
    waiting = RankState(rank=0, kind="backward", doing="backward", file="/a/train.py", line=4, batches=10)
    said = "rank 0 waits in backward (train.py:4); rank 1 has ended after 9 steps: rank 1 had 1 batch fewer"
    assert explain(hang(waiting, late)) == said


def test_the_first_collective_that_differs_is_named_however_late() -> None:
    def calls(*names: str) -> tuple[Call, ...]:
        chains = [hash(names[: index + 1]) & 0xFFFF for index in range(len(names))]
        return tuple(
            Call(1000 + index, name, (3,), "/a/train.py", 10 + index, chains[index]) for index, name in enumerate(names)
        )

    one = waits(0, calls=calls("all_reduce", "all_reduce", "barrier"))
    other = waits(1, 12, 1001, calls=calls("all_reduce", "broadcast"))
    assert explain(hang(one, other)).endswith(
        "they diverge at collective #1001, which is all_reduce of [3] (train.py:11) on rank 0 "
        "and broadcast of [3] (train.py:11) on rank 1"
    )


def _window(first: int, chains: str, name: str = "all_reduce") -> tuple[Call, ...]:
    return tuple(Call(first + at, name, (), "/a/train.py", 10, ord(chain)) for at, chain in enumerate(chains))


def test_no_number_is_named_where_the_first_difference_is_older_than_what_is_known() -> None:
    one, other = waits(0, calls=_window(40, "abc")), waits(1, calls=_window(41, "xyz"))
    assert explain(hang(one, other)).endswith(": they diverged at least 3 collectives ago")
    assert "#0, which is" in explain(hang(waits(0, calls=_window(0, "a")), waits(1, calls=_window(0, "b"))))


def test_a_later_call_of_the_script_is_not_taken_for_the_first_difference() -> None:
    one = waits(0, calls=_window(4, "ab", "barrier"), sent=_window(100, "mno"))
    other = waits(1, calls=_window(4, "ac", "barrier"), sent=_window(100, "pqr"))
    assert (
        ": they diverged at least 3 collectives ago; of those that the script itself calls, the first is collective #5"
        in (explain(hang(one, other)))
    )


def test_the_earliest_difference_of_all_ranks_is_named_also_where_the_first_rank_said_nothing() -> None:
    states = [waits(rank, calls=_window(7, calls)) for rank, calls in enumerate(("abcd", "abcx", "axyz"), 1)]
    said = explain(hang(RankState(rank=0, kind="silent"), *states))
    assert "they diverge at collective #8, which is all_reduce (train.py:10) on rank 1" in said
    assert said.endswith("on rank 3")


def test_a_rank_that_says_nothing_is_named() -> None:
    assert explain(hang(waits(0), RankState(rank=1, kind="silent"))).endswith("; rank 1 does not answer")
    assert place_in_doubt(hang(RankState(rank=1, kind="silent"))) is None


def test_what_was_recorded_is_read_again_until_it_resumes(tmp_path: Path) -> None:
    assert read_hang(tmp_path) is None
    (tmp_path / "ranks").mkdir()
    for resumed in (None, 105.0):
        stuck = msgspec.structs.replace(hang(waits(0)), resumed=resumed)
        (tmp_path / "ranks" / "hang.json").write_bytes(msgspec.json.encode(stuck))
        assert read_hang(tmp_path) == stuck
        said = waiting_words(stuck, "running", stuck.time + 30)
        assert said == ("" if resumed else f"stuck for {duration(stuck.idle_s + 30)}: {explain(stuck)}")
        assert not waiting_words(stuck, "killed", stuck.time)


def test_ranks_that_may_only_be_slow_are_not_called_stuck() -> None:
    waiting = msgspec.structs.replace(hang(waits(0), RankState(rank=1, doing="download()")), is_sure=False, idle_s=25.0)
    assert waiting_words(waiting, "running", waiting.time).startswith("no progress for 25s: rank 0 waits in ")


def test_a_hang_is_proved_where_no_rank_can_go_on() -> None:
    same = [waits(0, calls=_window(0, "ab")), waits(1, calls=_window(0, "ab"))]
    other = waits(1, calls=_window(0, "ac"))
    assert wait_in_vain([same[0], other])
    assert wait_in_vain([same[0], RankState(rank=1, kind="ended")])
    assert not wait_in_vain(same)  # a slow network
    for late in (RankState(rank=2), RankState(rank=2, kind="silent"), msgspec.structs.replace(other, is_busy=True)):
        assert not wait_in_vain([same[0], other, late]), late


def test_a_rank_that_left_early_is_named_with_its_line() -> None:
    left = RankState(rank=1, kind="ended", step=32, file="/a/train.py", line=37)
    finding = finding_of(hang(waits(0), left))
    assert "rank 1 has ended after 32 steps (train.py:37)" in finding.message
    assert [(one.line, one.label) for one in finding.related] == [(37, "rank 1 ended here")]
