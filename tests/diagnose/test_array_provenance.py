"""Arrays followed back through the source."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from stepscope.diagnose.array_provenance import story_of
from stepscope.diagnose.data_sources import names_in
from stepscope.diagnose.source import Source


def story(tmp_path: Path, text: str) -> list[int]:
    """The lines behind the argument of the last call."""
    path = tmp_path / "script.py"
    path.write_text(text)
    source = Source()
    file = source.file(str(path))
    assert file is not None
    run: Any = SimpleNamespace(source=SimpleNamespace(files=lambda: [file]))
    last = file.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return [site.line for site in story_of(run, file, last.value)]


def test_goes_through_casts_and_variables(tmp_path: Path) -> None:
    assert story(tmp_path, "raw = load()\nX = raw.astype('float32')\ntorch.tensor(X)\n") == [2, 1]


def test_goes_through_a_split_to_the_right_array(tmp_path: Path) -> None:
    text = "X = features()\ny = labels()\na, b, c, d = train_test_split(X, y)\ntorch.tensor(c)\n"
    assert story(tmp_path, text) == [3, 2]


def test_goes_into_own_functions_and_to_what_is_appended(tmp_path: Path) -> None:
    text = "def windows(s):\n    xs = []\n    for t in s:\n        xs.append(t)\n    return np.stack(xs), 1\n"
    assert story(tmp_path, text + "x, y = windows(load())\ntorch.tensor(x)\n") == [6, 5, 4]


def test_goes_out_of_a_function_by_its_argument(tmp_path: Path) -> None:
    text = "raw = load()\ndef ready(a):\n    return a\nready(raw)\ntorch.tensor(ready(raw))\n"
    assert story(tmp_path, text) == [3, 1]


def test_names_are_what_is_read_not_what_is_called() -> None:
    assert names_in(ast.parse("f(x, self.y[i], torch.ones(n))")) == ["x", "self.y", "i", "n"]
