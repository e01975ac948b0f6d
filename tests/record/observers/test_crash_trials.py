"""After a crash single changes are tried in sealed forks: what runs through is kept, and nothing leaves the fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.evidence.repairs import Repairs
from stepscope.record.observers.crash.observe import tried_changes
from stepscope.record.observers.fork_probe import can_fork, in_a_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="needs a fork")


def crash_of(folder: Path, text: str) -> Repairs:
    file = folder / f"script{len(list(folder.iterdir()))}.py"
    file.write_text(text)
    try:
        exec(compile(text, str(file), "exec"), {"__name__": "__main__", "__file__": str(file)})
    except Exception as error:
        return tried_changes(error)
    raise AssertionError("the script did not crash")


def test_a_change_is_kept_only_if_the_rest_of_the_loop_runs_too(tmp_path: Path) -> None:
    swapped = "import torch\nfor _ in range(2):\n    a, b = torch.ones(5, 3), torch.ones(5, 5)\n    c = a @ b\n"
    assert [one.new for one in crash_of(tmp_path, swapped).all][:1] == ["b @ a"]
    used = swapped + "    assert c.shape == (4, 4)\n"
    assert crash_of(tmp_path, used).all == []


def test_every_like_expression_of_the_statement_is_changed_together(tmp_path: Path) -> None:
    text = (
        "from torch import nn\n"
        "inner = nn.Module()\n"
        "inner.body, inner.head = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "net = nn.DataParallel(inner)\n"
        "parts = [net.head.weight, net.body.weight]\n"
    )
    (repair,) = crash_of(tmp_path, text).all
    assert [spot.new for spot in repair.spots] == ["net.module.head", "net.module.body"]
    assert repair.is_sure


def test_variables_of_a_function_are_there_when_it_goes_on(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "def score(x, adjacency, factor=2):\n"
        "    for _ in range(3):\n"
        "        y = torch.mm(x, adjacency)\n"
        "        total = sum(factor * v for v in y.flatten().tolist())\n"
        "    return total\n"
        "score(torch.ones(4, 2), torch.eye(4))\n"
    )
    assert [one.new for one in crash_of(tmp_path, text).all][:1] == ["torch.mm(adjacency, x)"]


def test_a_trial_writes_no_file_and_deletes_none(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("precious")
    text = (
        "import os, torch\n"
        "def touch():\n"
        f"    open({str(kept)!r}, 'w').close()\n"
        "def drop():\n"
        f"    os.unlink({str(kept)!r})\n"
        "for _ in range(1):\n"
        "    h = torch.ones(5, 3) @ torch.eye(5)\n"
        "    {act}\n"
    )
    for act in ("touch()", "drop()", f"torch.jit.save(torch.jit.script(torch.nn.ReLU()), {str(kept)!r})"):
        crash_of(tmp_path, text.replace("{act}", act))
        assert kept.read_text() == "precious"


def test_a_sealed_fork_cannot_write_to_what_was_open(tmp_path: Path) -> None:
    with open(tmp_path / "log.txt", "w+", buffering=1) as log:
        log.write("before\n")

        def work() -> dict[str, bool]:
            log.write("from the fork\n")
            log.flush()
            return {"done": True}

        assert in_a_fork(work, 5.0, sealed=True) == {"done": True}
        log.seek(0)
        assert log.read() == "before\n"


def test_a_sealed_fork_starts_no_program(tmp_path: Path) -> None:
    made = tmp_path / "made"

    def work() -> dict[str, bool]:
        subprocess.run([sys.executable, "-c", f"open({str(made)!r}, 'w')"], check=False)
        return {"ran": True}

    assert in_a_fork(work, 5.0, sealed=True) is None
    assert not os.path.exists(made)


def test_nothing_is_tried_for_what_a_trial_cannot_tell(tmp_path: Path) -> None:
    assert crash_of(tmp_path, "raise KeyboardInterrupt if False else MemoryError\n").tried == 0


def test_a_trial_that_goes_on_for_long_has_gone_far_enough(tmp_path: Path) -> None:
    text = "import torch\nfor _ in range(1):\n    h = torch.ones(5, 3) @ torch.eye(5)\n    while True:\n        pass\n"
    assert [one.new for one in crash_of(tmp_path, text).all][:1] == ["torch.eye(5) @ torch.ones(5, 3)"]
