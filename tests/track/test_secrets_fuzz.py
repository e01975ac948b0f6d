"""Generated secrets in 50 wrappings are masked; ordinary text is left alone. bench/masking.py runs the long form."""

from __future__ import annotations

import pytest
from bench.masking import ORDINARY, count_false_masks, false_masks, is_leaked, leaks, ordinary_logs
from tests.track.planted_secrets import NAMED_WRAPPINGS, SHAPES, WRAPPINGS, cases

from stepscope.track import secrets
from stepscope.track.console import LineRecorder


def test_there_are_fifty_wrappings() -> None:
    assert len(NAMED_WRAPPINGS) == 50


def test_generated_secrets_are_masked() -> None:
    assert leaks(cases(2500)) == []


def test_every_shape_and_wrapping_is_among_them() -> None:
    drawn = list(cases(2500))
    assert {case.shape for case in drawn} == set(SHAPES)
    wanted = {f"named/{name}" for name in NAMED_WRAPPINGS} | {f"bare/{name}" for name in WRAPPINGS}
    assert {case.wrapping for case in drawn} == wanted


def test_a_leak_would_be_noticed() -> None:
    secret = "Zx8qLw2pVn4t"
    assert is_leaked(secret, "the value Zx8qLw2pVn4t stays")
    assert is_leaked(secret, "password=***pVn4t2"[:-1] + " Lw2pVn")
    assert not is_leaked(secret, "password=***")


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_survive(line: str) -> None:
    assert secrets.mask_text(line) == line


def test_training_logs_and_our_own_docs_survive() -> None:
    assert false_masks(ordinary_logs(2000)) == []
    assert count_false_masks("docs", limit_bytes=300_000) == 0


@pytest.mark.parametrize("cut", range(1, 25, 3))
def test_a_secret_split_over_writes_is_masked_whatever_is_recorded_meanwhile(cut: int) -> None:
    secrets.forget_all()
    now, kept = [0.0], []
    recorder = LineRecorder("stdout", lambda piece: kept.append(piece.text), lambda: None, lambda: now[0])
    line = "use ghp_16C7e42F292c6912E7710c838347Ae178B4a now"
    for part in (line[: 4 + cut], line[4 + cut :], "\n"):
        recorder.write(part)
        now[0] += 5.0
        recorder.tick()
    recorder.close()
    assert kept[-1] == "use *** now\n"
    assert not any("16C7" in text for text in kept)


def test_a_line_without_end_is_not_cut_inside_a_secret() -> None:
    secrets.forget_all()
    kept: list[str] = []
    recorder = LineRecorder("stdout", lambda piece: kept.append(piece.text), lambda: None, lambda: 0.0)
    recorder.write("word " * 13105 + "ghp_16C7e42F292c69")
    recorder.write("12E7710c838347Ae178B4a and more\n")
    recorder.close()
    assert "16C7e42" not in "".join(kept)
    assert "*** and more" in "".join(kept)
