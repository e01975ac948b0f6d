from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.crash.unpacking import returned_by, splits_in, wrong_splits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile


@rule("data.split-order", severity="error", needs="crash, source")
def split_order(run: Evidence) -> Iterator[Proof]:
    """The parts of `train_test_split` are unpacked in the wrong order.

    Why it matters: it returns both parts of the first array, then both of the second. Unpacked otherwise, features are
    used as labels and training data as test data.

    What to do: unpack as `X_train, X_test, y_train, y_test`.

    Bad:
        X_train, y_train, X_test, y_test = train_test_split(X, y)
    Good:
        X_train, X_test, y_train, y_test = train_test_split(X, y)
    """
    found = [] if run.crash is None else wrong_splits(run.crash)
    files = run.source.files()
    returned = returned_by(file.walk() for file in files)
    for file in files:
        of_its_own = returned_by([file.walk()])
        found += splits_in(file.path, file.walk(), {**returned, **of_its_own})
    for site, names in found:
        yield Proof(
            where=site,
            message=f"train_test_split returns train, test, train, test; it is unpacked as {', '.join(names)}",
            label="in a different order than they are returned",
            evidence={"names": names},
            edit=edits.replace(site, partial(_unpacked, names=_ordered(names))),
            fix=f"unpack as {', '.join(_ordered(names))}",
        )


def _ordered(names: list[str]) -> list[str]:
    half = len(names) // 2
    train = [name for name in names if "test" not in name.lower() and "val" not in name.lower()]
    test = [name for name in names if name not in train]
    return [name for pair in zip(train, test, strict=False) for name in pair] if len(train) == half else names


def _unpacked(file: SourceFile, node: Any, names: list[str]) -> str | None:
    """The assignment with its targets in the order in which they come."""
    statement = edits.enclosing_statement(file, node)
    if statement is not node or not isinstance(node, ast.Assign):
        return None
    return f"{', '.join(names)} = {edits.text_of(file, node.value)}"
