"""What a large package leaves behind is kept out of the garbage collector's way; objects of the script are not."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.events import set_aside
from stepscope.events.set_aside import Import

pytestmark = pytest.mark.skipif(set_aside._compiled is None, reason="is not built")


@pytest.fixture(autouse=True)
def _known_again() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a script that has just begun: tests before this one may have left threads, and many objects."""
    monkeypatch.setattr(set_aside, "_is_alone", lambda: True)
    monkeypatch.setattr(set_aside, "_MOST_BEFORE", sys.maxsize)


class Node:
    def __init__(self) -> None:
        self.itself = self


def test_what_was_made_meanwhile_is_set_aside_and_what_was_there_is_not(alone: None) -> None:
    held = {"mine": Node()}
    large = Import()
    made = {"theirs": Node()}
    assert large.set_aside()
    known = {id(one) for one in gc.get_objects()}
    assert {id(held), id(held["mine"]), id(Node), id(globals())} <= known
    assert not {id(made), id(made["theirs"])} & known
    assert any(one is held for one in gc.get_referrers(held["mine"]))


def test_garbage_of_the_script_is_found_although_it_was_there_before(alone: None) -> None:
    node = Node()
    gone = weakref.ref(node)
    large = Import()
    assert large.set_aside()
    del node
    gc.collect()
    assert gone() is None


def test_what_the_script_has_set_aside_itself_stays_so(alone: None) -> None:
    node = Node()
    gc.freeze()
    assert Import().set_aside()
    assert id(node) not in {id(one) for one in gc.get_objects()}


def test_nothing_is_set_aside_where_another_thread_may_make_objects() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    large = Import()
    over.set()
    thread.join()
    assert not large.set_aside()
    assert gc.get_freeze_count() == 0


def test_a_run_sets_torch_aside_and_not_the_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            import gc

            class Held:
                pass

            held = Held()
            before = gc.get_freeze_count()
            import torch
            after = gc.get_freeze_count()
            model = torch.nn.Linear(2, 1)
            print(after - before > 50_000)
            print(any(one is globals() for one in gc.get_referrers(held)))
            print(any(one is model for one in gc.get_objects()))
            """
        )
    )
    command = [sys.executable, "-m", "stepscope", "run", "--no-run", "--quiet", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * 3, done.stderr
