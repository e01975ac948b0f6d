"""Looks at values go past whatever a script has put in the place of torch's functions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

import stepscope.record.observers
from stepscope.events.unpatched_torch import raw

WATCH = Path(stepscope.record.observers.__file__).parent
READS = {"item", "detach", "tolist", "clone", "cpu", "numpy", "to", "double", "float"}


def test_a_patch_of_a_method_or_a_function_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("called")

    for name in ("item", "detach", "tolist", "__float__"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    monkeypatch.setattr(torch, "isfinite", refuse)
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    assert raw.tolist(raw.detach(values)) == [1.0, 2.0]
    assert raw.item(raw.isfinite(values).all()) is True
    assert raw.item(raw.where(values > 1, values, 0.0).sum()) == 2.0


def test_observers_read_values_by_these_only() -> None:
    found = []
    for path in sorted(WATCH.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS
            if is_call and ast.unparse(node.func.value) != "raw":  # type: ignore[attr-defined]
                found.append(f"{path.name}:{node.lineno} {ast.unparse(node.func)}")  # type: ignore[attr-defined]
    assert found == [], "use stepscope.events.unpatched_torch.raw: the script may count calls of the methods of Tensor"
