"""docs/words.md and the code speak the same language."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = re.findall(r"^\| \*\*([\w -]+)\*\* \|", (ROOT / "docs" / "words.md").read_text(), re.M)
SOURCE = {path: path.read_text().lower() for path in (ROOT / "src" / "stepscope").rglob("*.py")}
GONE = ("witness", "testimony", "whose.py")
"""Words that were renamed; one idea has one word."""


def test_every_word_is_defined_once() -> None:
    assert len(WORDS) > 50
    assert sorted(WORDS) == sorted(set(WORDS))


def test_every_defined_word_is_used_in_the_code() -> None:
    unused = [word for word in WORDS if sum(word.rstrip("s") in text for text in SOURCE.values()) < 2]
    assert unused == []


def test_renamed_words_do_not_come_back() -> None:
    found = [f"{path.relative_to(ROOT)}: {word}" for path, text in SOURCE.items() for word in GONE if word in text]
    assert found == []


def test_the_classes_the_code_is_made_of_are_defined() -> None:
    for word in ("event", "observer", "evidence", "proof", "finding", "place", "origin", "coverage", "rule", "part"):
        assert word in WORDS, f"define '{word}' in docs/words.md"
