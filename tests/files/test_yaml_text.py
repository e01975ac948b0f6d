"""YAML that runs nothing and unfolds to nothing large."""

from __future__ import annotations

import pytest

from stepscope.errors import BadData
from stepscope.files.yaml_text import load_yaml

LAUGHS = "a0: &a0 [ha]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20))


def test_real_nesting_is_read_and_endless_nesting_is_not() -> None:
    nested = load_yaml("[" * 40 + "1" + "]" * 40, "x")
    for _ in range(40):
        (nested,) = nested
    assert nested == 1
    with pytest.raises(BadData, match="nested too deeply"):
        load_yaml("[" * 80 + "1" + "]" * 80, "x")


def test_plain_values_are_read() -> None:
    assert load_yaml("lr: 0.1\nlayers: &l [1, 2]\nagain: *l", "x") == {"lr": 0.1, "layers": [1, 2], "again": [1, 2]}


@pytest.mark.parametrize(
    "text",
    [LAUGHS, "[" * 100_000, "a: &a [*a]", "!!python/object/apply:os.system ['true']", "a: [", "\0"],
)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(BadData, match=r"^meta\.yaml"):
        load_yaml(text, "meta.yaml")
