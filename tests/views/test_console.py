"""The console of a run: lines by window, as a terminal would show them, found by text, pattern, step and number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import NotFound, QueryError, UsageError
from stepscope.records import Console, End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.views.console.console import (
    ConsoleCopyRequest,
    ConsoleFindRequest,
    ConsoleRequest,
    ConsoleTextRequest,
    ConsoleWindow,
    console,
    console_copy,
    console_find,
    console_text,
)
from stepscope.views.context import Context

T0 = 1_700_000_000.0


class Printing:
    """A run that prints; pieces go to the folder at once."""

    def __init__(self, store: Path, rank: int = 0, run: str | None = None) -> None:
        self.id = run or new_run_id()
        if run is None:
            create_run(store, RunMeta(id=self.id, project="demo", name="a / run", created=T0))
        self.writer = RunWriter(store / self.id, run_id=self.id, rank=rank, heartbeat_s=0, fsync_s=0)
        self.at = T0

    def say(self, text: str, **about: Any) -> None:
        self.at += 1
        piece = {"time": self.at, "stream": "stdout", **about}
        self.writer.console(Console(text=text, **piece))
        self.writer.flush()

    def end(self) -> None:
        self.writer.close(End(time=self.at, status="finished"))


def shown(ctx: Context, run: str, **asked: Any) -> list[str]:
    return [line.text for line in window(ctx, run, **asked).lines]


def window(ctx: Context, run: str, **asked: Any) -> ConsoleWindow:
    ctx.catalogue.refresh()
    return console(ctx, ConsoleRequest(run=run, **asked))


def test_lines_come_in_windows_and_know_their_number_step_and_stream(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("epoch 1\nepoch 2\n", step=4)
    run.say("careful\n", stream="stderr", step=5)
    run.end()
    whole = window(ctx, run.id)
    assert [(one.number, one.text, one.step, one.stderr, one.time) for one in whole.lines] == [
        (0, "epoch 1", 4, False, T0 + 1),
        (1, "epoch 2", 4, False, T0 + 1),
        (2, "careful", 5, True, T0 + 2),
    ]
    assert (whole.rows, whole.total, whole.streams, whole.ranks) == (3, 3, ["stdout", "stderr"], [0])
    assert whole.steps
    assert shown(ctx, run.id, start=1, count=1) == ["epoch 2"]
    assert shown(ctx, run.id, start=-2) == ["epoch 2", "careful"]
    assert shown(ctx, run.id, stream="stderr") == ["careful"]
    assert shown(ctx, run.id, start=99) == []


def test_a_progress_bar_is_one_line_unless_all_its_forms_are_wanted(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("start\n")
    run.say("10%", stream="stderr")
    run.say("between\n")
    run.say("50%", stream="stderr", rewrite=True)
    run.say("100%\nnext\n", stream="stderr", rewrite=True)
    run.end()
    found = window(ctx, run.id)
    assert [(one.number, one.text) for one in found.lines] == [(0, "start"), (2, "between"), (4, "100%"), (5, "next")]
    assert found.rewritten == 2
    assert shown(ctx, run.id, rewrites=True) == ["start", "10%", "between", "50%", "100%", "next"]


def test_an_unfinished_line_that_is_not_written_again_stays(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("half a line")
    run.say("another\n")
    run.end()
    assert shown(ctx, run.id) == ["half a line", "another"]


def test_bars_below_each_other_collapse_as_a_terminal_shows_them(ctx: Context, store: Path) -> None:
    """What two nested tqdm bars leave in the log: the inner one moves back up after each time it is drawn."""
    run = Printing(store)
    run.say("epoch 0%\ninner 0%\x1b[A\ninner 50%\x1b[A\ninner 99%\x1b[A\n", stream="stderr")
    run.say("done\n", stream="stderr")
    run.end()
    assert [text.replace("\x1b[A", "") for text in shown(ctx, run.id)] == ["epoch 0%", "done"]


def test_new_lines_are_added_to_what_is_known(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("one\n")
    assert shown(ctx, run.id) == ["one"]
    run.say("5%")
    assert shown(ctx, run.id) == ["one", "5%"]
    run.say("9%", rewrite=True)
    run.say("two\n")
    assert shown(ctx, run.id) == ["one", "9%", "two"]
    run.end()


def test_ranks_stand_in_the_order_they_printed_and_can_be_told_apart(ctx: Context, store: Path) -> None:
    first = Printing(store)
    second = Printing(store, rank=1, run=first.id)
    for number in range(3):
        first.say(f"rank 0 says {number}\n", time=T0 + 10 * number)
        second.say(f"rank 1 says {number}\n", time=T0 + 10 * number + 5)
    first.end()
    second.end()
    assert shown(ctx, first.id) == [f"rank {rank} says {number}" for number in range(3) for rank in (0, 1)]
    assert shown(ctx, first.id, rank=1) == [f"rank 1 says {number}" for number in range(3)]
    assert window(ctx, first.id).ranks == [0, 1]


def test_a_search_counts_marks_and_filters(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("".join(f"step {n} loss \x1b[31m{'NaN' if n == 7 else n / 10}\x1b[0m\n" for n in range(20)))
    run.end()
    found = window(ctx, run.id, search="nan")
    assert (found.matches, found.searched, found.rows) == (1, 20, 20)
    assert [one.number for one in found.lines if one.match] == [7]
    assert [one.number for one in window(ctx, run.id, search="nan", only=True).lines] == [7]
    assert window(ctx, run.id, search="Nan").matches == 0, "capitals in the search mean case"
    assert window(ctx, run.id, search=r"^step 1\d .*0\.\d|1\.[45]$", regex=True).matches == 2
    assert window(ctx, run.id, search="loss NaN").matches == 1, "colours between letters do not hide a text"


def test_the_next_match_and_the_one_before_go_round(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("".join(f"{'hit' if n in (2, 5) else 'miss'}\n" for n in range(8)))
    run.end()
    ctx.catalogue.refresh()

    def find(what: Any, row: int) -> tuple[int | None, int, int]:
        found = console_find(ctx, ConsoleFindRequest(run=run.id, what=what, row=row, search="hit"))
        return found.row, found.nth, found.matches

    assert [find("next", -1), find("next", 2), find("next", 5)] == [(2, 1, 2), (5, 2, 2), (2, 1, 2)]
    assert [find("previous", 5), find("previous", 2)] == [(2, 1, 2), (5, 2, 2)]


def test_a_line_and_a_step_are_found_among_the_filtered_rows(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("before any step\n")
    for step in (10, 20, 30):
        run.say(f"out {step}\n", step=step)
        run.say(f"err {step}\n", stream="stderr", step=step)
    run.end()
    ctx.catalogue.refresh()

    def find(**asked: Any) -> tuple[int | None, int | None]:
        found = console_find(ctx, ConsoleFindRequest(run=run.id, **asked))
        return found.row, found.number

    assert find(what="step", number=20) == (3, 3)
    assert find(what="step", number=11, stream="stderr") == (1, 4)
    assert find(what="step", number=99) == (6, 6)
    assert find(what="line", number=3, stream="stderr") == (1, 4)


def test_tracebacks_are_found_with_their_last_line(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("fine\n", step=1)
    trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    fit()\nValueError: no\n'
    run.say(trace[:60], stream="stderr", step=7)
    run.say(trace, stream="stderr", step=7, rewrite=True)
    run.say("KeyboardInterrupt\n", stream="stderr")
    run.end()
    found = window(ctx, run.id)
    assert [(one.text, one.step, one.last - one.first) for one in found.errors] == [("ValueError: no", 7, 3)]
    assert found.lines[-2].number == found.errors[0].last


def test_copied_and_downloaded_text_has_no_colours(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("\x1b[1ma\x1b[0m\nb\nc\n")
    run.end()
    ctx.catalogue.refresh()
    copied = console_copy(ctx, ConsoleCopyRequest(run=run.id, first=0, last=1))
    assert (copied.text, copied.lines, copied.cut) == ("a\nb", 2, False)
    saved = console_text(ctx, ConsoleTextRequest(run=run.id))
    assert saved.filename == "a---run-console.txt"
    assert b"".join(saved.pieces or ()) == b"a\nb\nc\n"
    coloured = console_text(ctx, ConsoleTextRequest(run=run.id, colours=True))
    assert b"".join(coloured.pieces or ()).startswith(b"\x1b[1ma")
    with pytest.raises(NotFound, match="no line from 50 to 60"):
        console_copy(ctx, ConsoleCopyRequest(run=run.id, first=50, last=60))


def test_a_long_line_is_cut_in_the_window_and_whole_when_copied(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("x" * 50_000 + "\n")
    run.end()
    [line] = window(ctx, run.id).lines
    assert (len(line.text), line.cut) == (4000, 46_000)
    assert len(console_copy(ctx, ConsoleCopyRequest(run=run.id, first=0, last=0)).text) == 50_000


def test_nothing_printed_is_an_empty_window(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.end()
    found = window(ctx, run.id, search="x")
    assert (found.rows, found.total, found.lines, found.errors) == (0, 0, [], [])
    assert console_find(ctx, ConsoleFindRequest(run=run.id, what="line", number=4)).row is None


def test_bad_patterns_are_refused_at_their_letter(ctx: Context, store: Path) -> None:
    run = Printing(store)
    run.say("a\n")
    run.end()
    with pytest.raises(QueryError, match="missing") as caught:
        window(ctx, run.id, search="a(b", regex=True)
    assert caught.value.position == 0
    with pytest.raises(UsageError, match="expected up to"):
        window(ctx, run.id, search="a" * 2000)
