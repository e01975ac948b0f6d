"""What the script prints is kept; the terminal notices nothing."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.records import Console
from stepscope.track import console
from stepscope.track.console import ConsoleCapture, LineRecorder, last_form


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pieces() -> list[Console]:
    return []


@pytest.fixture
def recorder(clock: Clock, pieces: list[Console]) -> LineRecorder:
    return LineRecorder("stdout", pieces.append, lambda: 7, clock)


def shown(pieces: list[Console]) -> list[tuple[str, bool]]:
    return [(piece.text, piece.rewrite) for piece in pieces]


def test_a_line_is_recorded_when_it_ends(recorder: LineRecorder, pieces: list[Console]) -> None:
    recorder.write("hello ")
    assert pieces == []
    recorder.write("world\n")
    assert shown(pieces) == [("hello world\n", False)]
    assert pieces[0].step == 7


def test_a_progress_bar_leaves_its_last_form(recorder: LineRecorder, pieces: list[Console]) -> None:
    for percent in range(0, 101, 10):
        recorder.write(f"\r{percent}%|####")
    recorder.write("\n")
    assert shown(pieces) == [("100%|####\n", False)]


def test_a_bar_that_takes_long_is_recorded_now_and_then(
    recorder: LineRecorder, pieces: list[Console], clock: Clock
) -> None:
    for percent in range(0, 60, 10):
        recorder.write(f"\r{percent}%")
        recorder.tick()
        clock.now += 1.0
    recorder.write("\rdone\n")
    assert shown(pieces) == [("0%", False), ("20%", True), ("40%", True), ("done\n", True)]


def test_windows_line_ends_are_line_ends(recorder: LineRecorder, pieces: list[Console]) -> None:
    recorder.write("a\r\nb\r")
    recorder.write("\nc\n")
    assert "".join(piece.text for piece in pieces) + "".join(recorder._ready) == "a\nb\nc\n"


def test_colours_are_kept(recorder: LineRecorder, pieces: list[Console]) -> None:
    recorder.write("\x1b[31mred\x1b[0m\n")
    assert pieces[0].text == "\x1b[31mred\x1b[0m\n"


def test_lines_in_quick_succession_share_a_record(recorder: LineRecorder, pieces: list[Console], clock: Clock) -> None:
    for number in range(100):
        recorder.write(f"line {number}\n")
    assert len(pieces) == 1
    recorder.tick()
    assert len(pieces) == 2
    assert "".join(piece.text for piece in pieces) == "".join(f"line {number}\n" for number in range(100))


def test_a_flood_is_cut_and_says_how_much(recorder: LineRecorder, pieces: list[Console], clock: Clock) -> None:
    for _ in range(300):
        recorder.write("x" * 9999 + "\n")
        clock.now += 0.03
    clock.now += 30
    recorder.write("calm again\n")
    recorder.close()
    text = "".join(piece.text for piece in pieces)
    kept = text.count("x")
    assert kept < console.BURST_BYTES + 10 * console.BYTES_PER_S
    assert "omitted here" in text
    assert text.endswith("calm again\n")
    cut = sum(int(line.split()[1].replace(",", "")) for line in text.splitlines() if line.startswith("[stepscope"))
    assert kept + text.count("x\n") + cut == 300 * 10_000


def test_an_endless_line_stays_bounded(recorder: LineRecorder, pieces: list[Console]) -> None:
    for _ in range(100):
        recorder.write("y" * 10_000)
    assert len(recorder._line) <= console.MAX_LINE + 10_000


@pytest.mark.parametrize(("line", "form"), [("a", "a"), ("a\rb", "b"), ("a\r", "a"), ("\r\r", ""), ("a\rb\r\r", "b")])
def test_last_form(line: str, form: str) -> None:
    assert last_form(line) == form


@contextlib.contextmanager
def captured(pieces: list[Console]) -> Iterator[ConsoleCapture]:
    capture = ConsoleCapture(pieces.append)
    capture.install()
    try:
        yield capture
    finally:
        capture.remove()


def test_the_stream_is_the_same_object_and_as_it_was_afterwards(pieces: list[Console]) -> None:
    before = sys.stdout, sys.stderr, sys.stdout.write, sys.stdout.isatty(), sys.stdout.encoding
    with captured(pieces):
        assert sys.stdout is before[0]
        assert sys.stdout.write("abc\n") == 4
        assert (sys.stdout.isatty(), sys.stdout.encoding) == before[3:]
    assert (sys.stdout, sys.stderr) == before[:2]
    assert "write" not in sys.stdout.__dict__
    assert sys.stdout.write == before[2]


def test_a_logger_made_before_is_recorded_too(pieces: list[Console]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("test_console")
    logger.addHandler(handler)
    try:
        with captured(pieces):
            logger.warning("careful")
    finally:
        logger.removeHandler(handler)
    assert [(piece.stream, piece.text) for piece in pieces] == [("stderr", "careful\n")]


def test_output_redirected_by_the_script_is_its_own_business(pieces: list[Console]) -> None:
    buffer = io.StringIO()
    with captured(pieces), contextlib.redirect_stdout(buffer):
        print("elsewhere")
    assert pieces == []
    assert buffer.getvalue() == "elsewhere\n"


def test_a_fault_while_recording_reaches_the_terminal_and_does_not_loop(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(piece: Console) -> None:
        raise RuntimeError("no room")

    capture = ConsoleCapture(fail)
    capture.install()
    try:
        print("hello")
        print("again", file=sys.stderr)
    finally:
        capture.remove()
    out, err = capfd.readouterr()
    assert out == "hello\n"
    assert err.count("recording the console failed") == 1


def test_a_wrapper_put_on_after_us_stays(pieces: list[Console], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    capture = ConsoleCapture(pieces.append)
    capture.install()
    ours = stream.write

    def theirs(text: str) -> int:
        return ours(text)

    stream.write = theirs  # type: ignore[method-assign]
    capture.remove()
    assert stream.write is theirs
    print("still goes out")
    assert stream.getvalue() == "still goes out\n"


def test_streams_that_are_none_are_left_alone(monkeypatch: pytest.MonkeyPatch, pieces: list[Console]) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with captured(pieces):
        print("nobody hears")


def test_a_run_keeps_what_is_printed(store: Path, recorded: Callable[[Path], Any], capfd: Any) -> None:
    run = stepscope.init(dir=store, system=False, git=False)
    print("epoch 1")
    sys.stderr.write("\r 50%")
    sys.stderr.write("\r100%\n")
    print("no newline", end="")
    run.finish()
    print(" after the end")
    read = recorded(run.path)  # type: ignore[arg-type]
    assert read.text("stdout") == "epoch 1\nno newline"
    assert read.text("stderr") == "100%\n"
    assert capfd.readouterr().out == "epoch 1\nno newline after the end\n"
