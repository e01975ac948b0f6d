"""Lines that `logging` writes are read without what the format of their handler puts around the message."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from stepscope.launch.printed.log_formats import message_of
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

from .conftest import launch_all

MESSAGE = "[3/4] loss: 0.5 val/acc=1.0"
FILE = {"filename": "loop.py", "module": "loop"}


@pytest.mark.parametrize(
    ("fmt", "datefmt", "style"),
    [
        ("%(asctime)s %(name)s %(levelname)s: %(message)s", None, "%"),
        ("[%(levelname)s|%(filename)s:%(lineno)s] %(asctime)s >> %(message)s", "%d/%b/%Y %I:%M %p", "%"),
        ("{asctime} {levelname:<8} {message}", None, "{"),
        ("$asctime - ${rank} - $message", None, "$"),
        ("%(levelname).1s%(asctime)s %(process)d %(module)s:%(lineno)d] %(message)s", "%m%d %H:%M:%S", "%"),
        ("%(threadName)s %(levelname)-8s %(message)s (%(funcName)s)", None, "%"),
        ("%(levelname)s:%(name)s:%(message)s", None, "%"),
        ("%(message)s", None, "%"),
    ],
)
def test_the_message_is_what_the_script_logged(fmt: str, datefmt: str | None, style: str) -> None:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter(fmt, datefmt, style=style))  # type: ignore[arg-type]
    facts = {"name": "project.loss", "levelname": "INFO", "msg": MESSAGE, "rank": 2, "funcName": "<module>"} | FILE
    line = handler.format(logging.makeLogRecord(facts))
    assert message_of(line, handler.stream) == MESSAGE


def test_a_line_of_another_stream_or_shape_stays_as_it_is() -> None:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    assert message_of("INFO loss: 0.5", io.StringIO()) == "INFO loss: 0.5"
    assert message_of("information loss: 0.5", handler.stream) == "information loss: 0.5"


SCRIPT = """
import logging, torch
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
weight = torch.nn.Parameter(torch.ones(2))
sgd = torch.optim.SGD([weight], lr=0.1)
for step in range(2):
    weight.square().sum().backward()
    sgd.step()
    sgd.zero_grad()
    logging.getLogger("engine.loop").info("[epoch %d] train_loss=%.2f val_loss=%.2f", step, 0.5, 0.25)
"""


def test_series_have_the_logged_names(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(SCRIPT)
    (done,) = launch_all([{"args": ["run", "--dir", "runs", "loop.py"], "cwd": str(tmp_path)}], torch=True)
    assert done.code == 0, done.err
    (found,) = runs(tmp_path / "runs")
    run = RunFolder(found.path)
    assert [list(run.series(name).values) for name in ("train_loss", "val_loss")] == [[0.5, 0.5], [0.25, 0.25]]
