"""Comments that silence a rule where it does not apply.

    loss.backward()                # stepscope: ignore[opt.no-zero-grad]
    loss.backward()                # stepscope: ignore
    # stepscope: ignore-file[repro]

The first silences one rule (several with commas) on its statement, the second all rules; alone on a line it speaks of
the statement below it. The third, alone on a line, speaks of the whole file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stepscope.diagnose.patterns import closeness, is_pattern, split_patterns

_COMMENT = re.compile(r"#\s*stepscope:\s*ignore(?P<file>-file)?\s*(?:\[(?P<rules>[^\]]*)\])?", re.IGNORECASE)


@dataclass(frozen=True)
class Silenced:
    """What the comments of one file silence."""

    lines: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Of each line, the patterns that do not apply there."""
    whole: tuple[str, ...] = ()

    def covers(self, rule: str, line: int | None) -> bool:
        here = self.lines.get(line, ()) if line is not None else ()
        return closeness((*here, *self.whole), rule) >= 0

    def mistakes(self) -> Iterator[tuple[int, str]]:
        """Lines whose comment names a rule that does not exist, with what may have been meant."""
        from stepscope.diagnose.catalogue import hint

        for line, patterns in self.lines.items():
            for one in patterns:
                if not is_pattern(one):
                    yield line, f"the comment names no rule: there is no '{one}'; {hint(one)}"


def read_comments(lines: Sequence[str]) -> Silenced:
    """What a file's comments silence; a file that cannot be parsed is read line by line.

    >>> found = read_comments(["fit(", "    model,  # stepscope: ignore[opt]", ")"])
    >>> found.covers("opt.no-zero-grad", 1), found.covers("loss.nan", 1)
    (True, False)
    """
    if not any("stepscope:" in line.lower() for line in lines):
        return Silenced()
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    spans = _statements(text)
    found: dict[int, tuple[str, ...]] = {}
    whole: tuple[str, ...] = ()
    for line, alone, comment in _comments(text):
        patterns = ("all",) if comment["rules"] is None else split_patterns([comment["rules"]])
        if comment["file"]:
            whole += patterns if alone else ()
            continue
        target = _next_code(lines, line) if alone and line not in spans else line
        first, last = spans.get(target, (target, target))
        for at in range(first, last + 1):
            found[at] = (*found.get(at, ()), *patterns)
    return Silenced(found, whole)


def _comments(text: str) -> Iterator[tuple[int, bool, re.Match[str]]]:
    """Each of our comments: its line, whether it stands there alone, and what it says. Strings are not comments."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (found := _COMMENT.match(token.string)):
                yield token.start[0], not token.line[: token.start[1]].strip(), found
    except (tokenize.TokenError, SyntaxError):
        return


def _next_code(lines: Sequence[str], line: int) -> int:
    for at in range(line + 1, len(lines) + 1):
        text = lines[at - 1].strip()
        if text and not text.startswith("#"):
            return at
    return line


def _statements(text: str) -> dict[int, tuple[int, int]]:
    """Of each line, the first and last line of its statement; of `for`, `def` and their like only the head."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    spans: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # outer statements come first, and inner ones take their lines from them
        if isinstance(node, ast.stmt):
            first, last = _head(node)
            for line in range(first, last + 1):
                spans[line] = (first, last)
    return spans


def _head(node: ast.stmt) -> tuple[int, int]:
    end = node.end_lineno or node.lineno
    marks = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(mark.lineno for mark in marks)])
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return first, end
    inner = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
    return first, max(node.lineno, inner - 1)
