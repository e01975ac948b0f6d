"""A warning under the watch names the line it names without it."""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F

from stepscope.record.observers import Watcher


def places(action: str) -> list[tuple[str, int]]:
    """Where three warnings are put down to: of C code, of torch's Python twice at one line, and at another line."""
    start = torch.ones(2, 3)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        torch.tensor(start)
        for _ in range(2):
            F.softmax(start)
        F.softmax(start)
    return [(one.filename, one.lineno) for one in shown]


def test_a_warning_names_the_users_line_and_is_counted_there() -> None:
    for action, count in (("always", 4), ("default", 3)):
        alone = places(action)
        watcher = Watcher()
        watcher.start()
        try:
            watched = places(action)
        finally:
            watcher.stop()
        assert watched == alone
        assert len(watched) == count
        assert {file for file, _ in watched} == {__file__}
