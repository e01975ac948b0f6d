"""Pages, docstrings, comments and messages in plain English; CONTRIBUTING.md has the pairs."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
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

SOURCES = ROOT / "src" / "stepscope"
ROOMS = [
    "views",
    "runs",
    "track",
    "inspect",
    "cli",
    "importers",
    "wandb",
    "eventfiles",
    "notebook",
    "report",
    "export",
    "files",
    "integrations",
    "agents",
    "common",
    "testing",
    "experiments",
    "records",
    "evidence",
    "profile",
    "sweep",
    "sync",
    "people",
    "database",
    "demo",
    "server",
    "launch",
]
"""The rooms whose docstrings, comments and messages are edited. Add the others as they are."""
ODD_IN_SOURCE = re.compile(
    ODD.pattern
    + r"|\b(?:so many\b|stands? (?:for|in|there|behind|before)\b|(?<!there )(?:is|are) no (?!longer\b|more\b)[a-z]+"
    r"|is none\b(?<!there is none)|what (?:stands|lies|comes|came of)\b|has (?:nothing )?to say\b"
    r"|says? (?:of it|no more)\b|a look (?:at|that|brought)\b|let go\b|going on\b|goes on\b|for good\b|for ever\b"
    r"|(?:is|are|was|were) handed\b"
    r"|g[ai]ves? back\b|(?<!un)told (?:to|of|by)\b|tells? of\b|the gravest\b|taken for\b|in one look\b|all there is\b)"
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


def written_in(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings, comments and messages of a source file: every text of three words or more."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 2:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def found_in_source(pattern: re.Pattern[str]) -> list[str]:
    hits = []
    for room in ROOMS:
        for path in sorted((SOURCES / room).rglob("*.py")):
            for number, text in written_in(path):
                plain = " ".join(re.sub(r"`[^`]*`", "", text).split())
                hits += [f"{path.relative_to(ROOT)}:{number}: {hit.group()}" for hit in pattern.finditer(plain)]
    return hits


def test_no_page_has_a_phrase_that_needs_a_translator() -> None:
    assert found(ODD, PAGES) == []


def test_pages_are_in_american_english() -> None:
    assert found(BRITISH, PAGES) == []


def test_no_docstring_comment_or_message_needs_a_translator() -> None:
    assert found_in_source(ODD_IN_SOURCE) == []


def test_the_source_is_in_american_english() -> None:
    assert found_in_source(BRITISH) == []


def test_odd_phrases_in_source_would_be_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""What stands for a run."""\nx = 1  # it is told once\nraise ValueError(f"{x} is no size, is it")\n'
    )
    hits = [hit.group() for _, text in written_in(module) for hit in ODD_IN_SOURCE.finditer(text)]
    assert sorted(hits) == ["is no size", "is told", "stands for"]


def test_both_would_be_found() -> None:
    assert [hit.group() for hit in ODD.finditer("The fault is said once and made anew.")] == ["is said", "anew"]
    assert [hit.group() for hit in BRITISH.finditer("a grey neighbour; `normalise`")] == ["grey", "neighbour"]
