"""The status line makes way for everything the script prints, and for its progress bars altogether."""

from __future__ import annotations

import io
import sys

import pytest

from stepscope.launch.status import AFTER_A_BAR_S, EVERY_S, StatusLine

WIPE = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def opened(monkeypatch: pytest.MonkeyPatch, text: str, clock: Clock) -> tuple[Terminal, StatusLine]:
    """A terminal that is both streams, with a status line on it. Not a fixture: pytest changes streams after those."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    line = StatusLine(lambda width: text, clock)
    line.install()
    return terminal, line


def test_it_is_wiped_before_a_print_and_drawn_after(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    terminal, line = opened(monkeypatch, "step 1", clock)
    line.tick()
    print("hello")
    clock.now += EVERY_S
    line.tick()
    line.remove()
    assert terminal.getvalue() == f"{WIPE}step 1{WIPE}hello\n{WIPE}step 1{WIPE}"
    assert "write" not in vars(terminal)


def test_it_is_drawn_at_most_four_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    terminal, line = opened(monkeypatch, "x", clock)
    for _ in range(100):
        line.tick()
        clock.now += 0.01
    line.remove()
    assert terminal.getvalue().count("x") == 4


def test_it_never_breaks_into_an_unfinished_line(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    terminal, line = opened(monkeypatch, "status", clock)
    print("loading ...", end="", flush=True)
    line.tick()
    print(" done")
    line.remove()
    assert terminal.getvalue() == "loading ... done\n"


def test_there_is_none_beside_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    terminal, line = opened(monkeypatch, "status", clock)
    for percent in (10, 20):
        sys.stderr.write(f"\r{percent}%|##   |")
        clock.now += 1
        line.tick()
    sys.stderr.write("\n")
    assert "status" not in terminal.getvalue()
    clock.now += AFTER_A_BAR_S
    line.tick()
    assert terminal.getvalue().endswith("status")
    line.remove()


def test_it_is_cut_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, line = opened(monkeypatch, "y" * 500, Clock())
    line.tick()
    line.remove()
    assert terminal.getvalue().count("y") == 79


def test_it_is_not_wanted_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not StatusLine.is_wanted()
