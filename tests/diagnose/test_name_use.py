"""What becomes of the name a result is given, as the source shows it."""

from __future__ import annotations

import ast

import pytest

from stepscope.diagnose.name_use import fate_of_name
from stepscope.diagnose.source import Source
from stepscope.records.place import Place


def fate(body: str) -> tuple[str, str] | None:
    """Of the first call of `f` in a function with this body."""
    text = "def train():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    source = Source({"train.py": text})
    file = source.file("train.py")
    assert file is not None
    call = next(node for node in ast.walk(file.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "f")
    found = fate_of_name(source, Place("train.py", "train", 1, file.site(call)))
    return None if found is None else (found.name, found.fate)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss = f(x)\nreturn 1", ("loss", "unread")),
        ("loss = f(x)\nloss = g(x)\nreturn loss", ("loss", "overwritten")),
        ("for x in xs:\n    loss = f(x)\nreturn loss", ("loss", "loop")),
        ("loss = f(x)\nreturn loss", None),
        ("loss = f(x)\nloss += g(x)", None),
        ("loss = f(x)\nloss = loss + g(x)", None),
        ("for x in xs:\n    loss = f(x)\n    loss.backward()", None),
        ("loss = f(x)\nif x:\n    print(loss)\nloss = g(x)", None),
        ("_ = f(x)", None),
        ("a, b = f(x)", None),
        ("global loss\nloss = f(x)", None),
        ("loss = f(x)\nreturn locals()", None),
        ("return f(x)", None),
    ],
)
def test_tells_what_becomes_of_a_name(body: str, expected: tuple[str, str] | None) -> None:
    assert fate(body) == expected
