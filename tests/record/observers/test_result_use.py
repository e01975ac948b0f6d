"""What becomes of a moved tensor, by the line that moves it."""

from __future__ import annotations

import ast

import pytest

from stepscope.record.observers.result_use import fate_of_call
from stepscope.records.step import Site


@pytest.mark.parametrize(
    ("line", "fate"),
    [
        ("x.to(device)", "dropped"),
        ("x = x.to(device)", "renamed"),
        ("x, y = x.to(device), y", "renamed"),
        ("x_dev = x.to(device)", "shared"),
        ("f(x.to(device))", "shared"),
        ("x = torch.randn(3).to(device)", "renamed"),
        ("x = data[index].to(device)", "renamed"),
        ("x = batch['x'].to(device)", "shared"),
        ("batch = [x.to(device) for x in batch]", "renamed"),
        ("batch = {k: x.to(device) for k, x in batch.items()}", "renamed"),
        ("moved = {k: x.to(device) for k, x in batch.items()}", "shared"),
    ],
)
def test_tells_what_becomes_of_it(tmp_path, line, fate):
    path = tmp_path / "line.py"
    path.write_text(line)
    calls = [n for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Call) and "to" in ast.unparse(n.func).split(".")]
    call = next(n for n in calls if ast.unparse(n).endswith("to(device)"))
    site = Site(file=str(path), line=1, column=call.col_offset, end_column=call.end_col_offset)
    assert fate_of_call(site) == fate
