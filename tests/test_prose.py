"""The pages that users read say things as a technical writer would: the pairs are in CONTRIBUTING.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "design"),
]
ODD = re.compile(
    r"\b(?:(?:is|are|was|were) (?:told|said)(?! apart)\b|of ours\b|anew\b|mend(?:s|ed)?\b|stands (?:at|under|beside)\b"
    r"|lets? go of\b|to and fro\b|by heart\b|hinders\b|took (?:no )?part\b|(?:watched|looked at) closely\b"
    r"|as ever\b|by nobody\b|is asked of\b|of one's own\b)"
)
BRITISH = re.compile(
    r"(?<![\w.`/-])(?:\w*(?:colour|behaviour|neighbour|favour)\w*|grey|learnt|labelled|centre|towards|afterwards"
    r"|(?:normal|initial|standard|recogn|synchron|optim|quant|random|equal|minim|maxim|summar)is(?:e[ds]?|ing|ation))\b"
    r"(?![\w`/.(-])"
)


def prose(path: Path) -> list[tuple[int, str]]:
    """The lines that are not code."""
    lines, in_code = [], False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("    "):
            lines.append((number, re.sub(r"`[^`]*`", "", line)))
    return lines


def found(pattern: re.Pattern[str], pages: list[Path]) -> list[str]:
    return [
        f"{page.relative_to(ROOT)}:{number}: {hit.group()}"
        for page in pages
        for number, line in prose(page)
        for hit in pattern.finditer(line)
    ]


def test_no_page_has_a_phrase_that_needs_a_translator() -> None:
    assert found(ODD, PAGES) == []


def test_pages_are_in_american_english() -> None:
    assert found(BRITISH, PAGES) == []


def test_both_would_be_found() -> None:
    assert [hit.group() for hit in ODD.finditer("The fault is said once and made anew.")] == ["is said", "anew"]
    assert [hit.group() for hit in BRITISH.finditer("a grey neighbour; `normalise`")] == ["grey", "neighbour"]
