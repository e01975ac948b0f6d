from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stepscope.diagnose.evidence_words import evidence_words
from stepscope.diagnose.excerpt import MAX_LINE, code_span, with_source
from stepscope.diagnose.text_cells import Cells
from stepscope.records import Finding, Related

TEXT = "import torch\n\n\ndef step(x, y):\n    loss = f(x)\n    loss.backward()\n\n\nstep(1, 2)\n"


def found_in(file: Path, line: int, **more: object) -> Finding:
    return Finding(rule="opt.x", severity="error", message="m", file=str(file), line=line, **more)  # type: ignore[arg-type]


def test_keeps_the_lines_around_without_blank_edges(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    kept = with_source(found_in(file, 6, related=[Related(file=str(file), line=9, label="called here")]))
    assert kept.source == [(4, "def step(x, y):"), (5, "    loss = f(x)"), (6, "    loss.backward()")]
    assert kept.related[0].source == [(9, "step(1, 2)")]
    assert not kept.source_changed


def test_columns_in_bytes_become_letters_once(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("größe = fläche(x)\n", encoding="utf-8")
    kept = with_source(found_in(file, 1, column=10, end_column=20))
    assert (kept.column, kept.end_column) == (8, 17)
    assert with_source(kept) is kept


def test_a_file_edited_after_the_start_is_marked(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    os.utime(file, (1000, 1000))
    assert not with_source(found_in(file, 6), began=1001.0).source_changed
    assert with_source(found_in(file, 6), began=999.0).source_changed


def test_what_cannot_be_read_leaves_the_finding_as_it_is(tmp_path: Path) -> None:
    gone = found_in(tmp_path / "gone.py", 3, column=4)
    assert with_source(gone) == gone
    assert with_source(found_in(tmp_path, 3)).source == []
    assert with_source(found_in(Path("a\0b"), 3)).source == []
    file = tmp_path / "short.py"
    file.write_text("x\n")
    assert with_source(found_in(file, 300)).source == []


def test_a_line_of_megabytes_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "generated.py"
    file.write_text(f"x = '{'a' * 3_000_000}'\n")
    assert [len(text) for _, text in with_source(found_in(file, 1)).source] == [MAX_LINE]


def test_old_findings_without_lines_still_load() -> None:
    old = b'{"rule":"opt.x","severity":"error","message":"m","file":"a.py","line":3}'
    found = msgspec.json.decode(old, type=Finding)
    assert (found.source, found.related, found.source_changed) == ([], [], False)


def test_underlines_the_statement_where_no_column_is_known() -> None:
    assert code_span("    x = '#' + y   # sum") == (4, 15)
    assert code_span("    # only a comment") == (4, 20)
    assert code_span("      a,  # one argument of a longer call") == (6, 8)
    assert code_span("") == (0, 0)


def test_a_window_keeps_columns_in_place_around_wide_letters() -> None:
    line = Cells("漢字漢字漢字漢字")
    assert line.window(0, 9) == "漢字漢字…"
    assert line.window(2, 8) == "… 漢字…"
    assert line.window(40, 8) == "…"


def test_long_and_odd_evidence_stays_on_one_short_line() -> None:
    words = evidence_words({"norm": list(range(40)), "note": "a\nb\x1b[31m", "none": None, "empty": [], "on": True})
    assert words == "norm 0 -> 1 -> 2 -> 3 -> ... -> 39, note a b, on yes"
    assert len(evidence_words({f"key_{n}": "x" * 30 for n in range(50)})) <= 240
    assert evidence_words({"operands": {"input": [64, 10], "weight_shape": [5, 10]}}) == (
        "operands (input 64 -> 10, weight shape (5, 10))"
    )
    assert evidence_words({"shapes": [[1, 2], [3, 4]], "lr": 1e-5}) == "shapes (1, 2), (3, 4), lr 1e-05"
