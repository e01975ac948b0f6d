"""speedscope's files and collapsed stacks: round trips, and clear words for what is no such file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound
from stepscope.profile.python.collapsed import collapsed_in, collapsed_text, read_collapsed
from stepscope.profile.python.speedscope import read_speedscope, speedscope_bytes, speedscope_in, write_speedscope
from stepscope.profile.python.tree_builder import TreeBuilder
from stepscope.records.profile import Stack


def tree() -> Stack:
    builder = TreeBuilder()
    main, load, step = ("main (m.py:1)", "m.py", 1, 0), ("load (m.py:9)", "m.py", 9, 0), ("step (m.py:5)", "m.py", 5, 0)
    for frames, weight in (([main, load], 3e9), ([main, step, load], 1e9), ([main, step], 2e9), ([main], 0.5e9)):
        builder.add(frames, weight)
    return builder.stack(id="python-profile", title="run")


def test_a_tree_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_speedscope(tree(), tmp_path / "run.speedscope.json")
    again = read_speedscope(tmp_path / "run.speedscope.json")
    assert again == tree()
    assert again.total == [6.5e9, 3e9, 3e9, 1e9]


def test_the_file_is_what_speedscope_asks_for() -> None:
    written = json.loads(speedscope_bytes(tree()))
    assert written["$schema"].startswith("https://www.speedscope.app/")
    (profile,) = written["profiles"]
    assert profile["endValue"] == sum(profile["weights"]) == 6.5e9
    assert written["shared"]["frames"][1] == {"name": "load (m.py:9)", "file": "m.py", "line": 9}
    assert profile["samples"] == [[0], [0, 1], [0, 2], [0, 2, 1]]


def test_evented_profiles_are_read_too() -> None:
    events = [("O", 0, 0), ("O", 2, 1), ("C", 5, 1), ("O", 6, 1), ("C", 7, 1), ("C", 10, 0)]
    whole = {
        "shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "load"}]},
        "profiles": [
            {
                "type": "evented",
                "name": "t",
                "unit": "milliseconds",
                "startValue": 0,
                "endValue": 10,
                "events": [{"type": kind, "at": at, "frame": frame} for kind, at, frame in events],
            }
        ],
    }
    found = speedscope_in(json.dumps(whole).encode())
    assert found.names == ["main (a.py:3)", "load"]
    assert (found.total, found.own) == ([10e6, 4e6], [6e6, 4e6])


def test_several_threads_are_roots() -> None:
    one = {"type": "sampled", "unit": "none", "samples": [[0]], "weights": [2]}
    whole = {"shared": {"frames": [{"name": "f"}]}, "profiles": [{**one, "name": "a"}, {**one, "name": "b"}]}
    found = speedscope_in(json.dumps(whole).encode())
    assert [found.names[found.name[i]] for i, above in enumerate(found.parent) if above < 0] == ["a", "b"]
    assert found.unit == "count"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not a speedscope file"),
        (b"[1]", "not a speedscope file"),
        (b'{"traceEvents": []}', "not a speedscope file"),
        (b"[" * 100_000, "not a speedscope file"),
        (b'{"shared": {"frames": []}, "profiles": []}', "without a single sample"),
        (b'{"shared":{"frames":[]},"profiles":[{"type":"sampled","samples":[[3]],"weights":[1]}]}', "not in shared"),
        (b'{"shared":{"frames":[]},"profiles":[{"type":"sampled","samples":[[]],"weights":[]}]}', "1 samples, but 0"),
        (b'{"shared":{"frames":[]},"profiles":[{"type":"x","samples":[[]],"weights":[1]}]}', "of type 'x'"),
    ],
)
def test_what_is_no_speedscope_file_is_said(raw: bytes, said: str) -> None:
    with pytest.raises(BadData, match=said):
        speedscope_in(raw, "run.json")


def test_collapsed_stacks_come_back(tmp_path: Path) -> None:
    text = collapsed_text(tree())
    assert text.splitlines()[1] == "main (m.py:1);load (m.py:9) 3000000000"
    (tmp_path / "a.txt").write_text("# comment\n" + text)
    again = read_collapsed(tmp_path / "a.txt")
    assert (again.parent, again.total) == (tree().parent, tree().total)
    with pytest.raises(BadData, match="line 1: 'no number here' is not a stack"):
        collapsed_in("no number here\n")
    with pytest.raises(NotFound, match="no file"):
        read_collapsed(tmp_path / "none.txt")
