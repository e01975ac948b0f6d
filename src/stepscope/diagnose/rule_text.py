"""A rule's docstring taken apart: what is wrong, why it matters, what to do, and both ways to write it.

The first line is the summary. Then paragraphs that begin with `Why it matters:`, `What to do:` and, where it helps,
`How it is found:`; then `Bad:` and `Good:`, each with its code indented below.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from textwrap import dedent

_HEADS = {
    "Why it matters": "why",
    "What to do": "fix",
    "How it is found": "how",
    "Bad": "bad",
    "Good": "good",
}
_HEAD = re.compile(rf"^({'|'.join(_HEADS)}):[ ]*", re.MULTILINE)


@dataclass(frozen=True)
class RuleText:
    """The documentation of one rule."""

    summary: str = ""
    about: str = ""
    """What stands between the summary and the first named paragraph."""
    why: str = ""
    fix: str = ""
    how: str = ""
    bad: str = ""
    good: str = ""

    @property
    def missing(self) -> list[str]:
        """The parts that every rule must have, and this one lacks."""
        needed = {"a first line": self.summary, "Why it matters:": self.why, "What to do:": self.fix}
        return [name for name, text in {**needed, "Bad:": self.bad, "Good:": self.good}.items() if not text]


def read_docstring(docstring: str | None) -> RuleText:
    """The parts of a rule's docstring; what is not there is empty.

    >>> read_docstring('''Gradients pile up.
    ...
    ... Why it matters: the step grows
    ... without bound.
    ...
    ... Bad:
    ...     loss.backward()
    ... ''')
    RuleText(summary='Gradients pile up.', about='', why='The step grows without bound.', fix='', how='', \
bad='loss.backward()', good='')
    """
    text = inspect.cleandoc(docstring or "")
    summary, _, rest = text.partition("\n\n")
    if _HEAD.match(summary):
        summary, rest = "", text
    pieces = _HEAD.split(rest)
    parts = {_HEADS[head]: body for head, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    shaped = {name: _code(body) if name in ("bad", "good") else _sentence(body) for name, body in parts.items()}
    return RuleText(summary=_prose(summary), about=_prose(pieces[0]), **shaped)


def _prose(text: str) -> str:
    """Paragraphs without the line breaks of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n[ ]*\n", text.strip()))


def _sentence(text: str) -> str:
    """What followed a colon, standing on its own: with a capital, unless it begins with code."""
    prose = _prose(text)
    return prose[:1].upper() + prose[1:]


def _code(text: str) -> str:
    return dedent(text.strip("\n")).rstrip()
