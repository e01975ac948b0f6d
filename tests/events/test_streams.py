"""What is written is heard on the stream's own object, and a debugger finds the stream as it was."""

from __future__ import annotations

import io
import os
import pdb
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.events import installed_now
from stepscope.events.streams import Written

SCRIPT = """
def f():
    breakpoint()
    return 3
print("x", f())
for i in range(2):
    print("i", i)
print("end")
"""
COMMANDS = "next\nnext\nstep\nnext\nnext\nstep\nstep\nnext\nnext\nnext\nnext\nnext\n"

_OF_PYTHON = re.compile(r"--Call--\n> \S*rlcompleter\.py.*", re.DOTALL)
"""From Python 3.13 on pdb goes on into an exit function of Python's own; under us it ends with the script."""


def hearing(heard: list[str]) -> Callable[[Any], Any]:
    def layer(write: Any) -> Any:
        def written(text: str) -> Any:
            heard.append(text)
            return write(text)

        return written

    return layer


def test_the_stream_is_as_it_was_after() -> None:
    stream, heard = io.StringIO(), []  # type: ignore[var-annotated]
    written = Written(stream, hearing(heard))
    written.install()
    assert stream.write("hello") == 5
    written.remove()
    stream.write("!")
    assert (heard, stream.getvalue(), "write" in vars(stream), installed_now()) == (["hello"], "hello!", False, [])


def test_a_stream_that_takes_no_attributes_is_refused() -> None:
    class Slots:
        __slots__ = ()

        def write(self, text: str) -> int:
            return len(text)

    with pytest.raises(AttributeError):
        Written(Slots(), hearing([])).install()
    assert installed_now() == []


def test_while_a_debugger_steps_the_stream_is_its_own() -> None:
    stream, heard, aside = io.StringIO(), [], []  # type: ignore[var-annotated]
    written = Written(stream, hearing(heard), lambda: aside.append(1))
    written.install()
    stream.write("before\n")
    debugger = pdb.Pdb(stdin=io.StringIO("next\nnext\nnext\ncontinue\n"), stdout=stream, nosigint=True, readrc=False)
    debugger.set_trace()
    stream.write("stepped\n")
    stream.write("stepped again\n")
    assert "write" not in vars(stream)
    stream.write("not heard\n")
    assert sys.gettrace() is None
    written.settle()
    stream.write("after\n")
    written.remove()
    assert (heard, aside, written.is_aside) == (["before\n", "after\n"], [1], False)
    assert "events/streams.py" not in stream.getvalue().replace("tests/events", "tests")


@pytest.mark.parametrize("words", [("run", "-q"), ("run", "-q", "--no-run")], ids=" ".join)
def test_a_debugger_in_a_script_shows_what_it_shows_without_us(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    given: dict[str, Any] = {"input": COMMANDS, "capture_output": True, "text": True, "cwd": tmp_path}
    given["env"] = {**os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs")}
    plain = subprocess.run([sys.executable, "train.py"], check=False, **given)
    ours = subprocess.run([sys.executable, "-m", "stepscope", *words, "train.py"], check=False, **given)
    assert ours.stdout == _OF_PYTHON.sub("", plain.stdout)
    assert ours.returncode == plain.returncode
