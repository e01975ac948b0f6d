from __future__ import annotations

from pathlib import Path

from stepscope.inspect.columns import COLUMNS
from stepscope.inspect.layers import COLUMNS as PROFILE_COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "inspect.md").read_text()


def test_every_column_is_documented() -> None:
    missing = [name for name, column in COLUMNS.items() if f"| `{name}` | {column.meaning} |" not in PAGE]
    assert missing == []


def test_the_order_of_the_profiles_columns_is_documented() -> None:
    text = " ".join(PAGE.split())
    places = [text.index(f"`{name}`", text.index("The columns of the CSV")) for name in PROFILE_COLUMNS]
    assert places == sorted(places)
