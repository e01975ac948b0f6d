"""JSON with comments, as VS Code keeps its settings: entries are added to a list in it, the rest stays as it was.

The text is read only to see what is there. What is added is added as text, so that comments, order, layout and
trailing commas stay letter for letter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stepscope.errors import BadData

Entry = dict[str, Any]


class Merged(NamedTuple):
    """A text with entries added, and what was done: names of entries."""

    text: str
    added: list[str]
    replaced: list[str]
    kept: list[str]
    """Entries of these names were there already and were not touched."""


def merged(text: str, key: str, entries: Sequence[Entry], *, name: str, where: str, replace: bool = False) -> Merged:
    """The text with our entries in its list `key`; an entry with the name of one of these stays, or is replaced.

    >>> merged('{"tasks": [/* none */]}', "tasks", [{"label": "check"}], name="label", where="tasks.json").added
    ['check']
    """
    there = read(text, key, where)
    ours = {str(one[name]): one for one in entries}
    places = {str(one.get(name)): at for at, one in enumerate(there) if isinstance(one, dict)}
    new: list[str] = []
    kept: list[str] = []
    stale: list[str] = []
    for label, entry in ours.items():
        if label not in places:
            new.append(label)
        elif replace and there[places[label]] != entry:
            stale.append(label)
        else:
            kept.append(label)
    if stale:
        text = _replaced(text, key, {places[label]: ours[label] for label in stale}, where)
    if new:
        text = _inserted(text, key, [ours[label] for label in new], where)
    return Merged(text, new, stale, kept)


def _replaced(text: str, key: str, entries: dict[int, Entry], where: str) -> str:
    """The text with entries of its list replaced, by their place in it."""
    plain = _blanked(text)
    spans, _ = _elements(plain, _list_at(plain, key, where))
    for place in sorted(entries, reverse=True):  # from the end, so that earlier places stay
        start, end = spans[place]
        text = text[:start] + _rendered(entries[place], text, start) + text[end:]
    return text


def read(text: str, key: str, where: str) -> list[Any]:
    """The list `key` of the file; none is empty. What cannot be read is an error: it is never written over."""
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', lambda match: match.group().replace(",", "\\u002c"), _blanked(text))
    try:
        found = json.loads(re.sub(r",(\s*[}\]])", r"\1", plain))
    except ValueError as fault:
        raise BadData(f"{where} cannot be read ({fault}); nothing was changed. Fix it, or move it away") from None
    listed = found.get(key, []) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise BadData(f"{where}: expected an object with a list of {key}; nothing was changed")
    return listed


def _blanked(text: str) -> str:
    """The text with comments as blanks: the same length, so that places in it are places in the text."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\r\n]", " ", found)

    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


def _tokens(plain: str, start: int = 0) -> Iterator[re.Match[str]]:
    return re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+').finditer(plain, start)


def _list_at(plain: str, key: str, where: str) -> int | None:
    """Where the list's content begins; only the file's own key counts, not one inside an entry."""
    depth, before = 0, ["", ""]
    for token in _tokens(plain):
        word = token.group()
        if word == "[" and depth == 1 and before[1] == ":" and json.loads(before[0]) == key:
            return token.end()
        depth += (word in "{[") - (word in "}]")
        before = [before[1], word]
    return None


def _elements(plain: str, start: int | None) -> tuple[list[tuple[int, int]], int]:
    """The span of each entry of the list that begins at `start`, and where the list ends."""
    spans: list[tuple[int, int]] = []
    depth, first, last = 0, -1, -1
    for token in _tokens(plain, start or 0):
        word = token.group()
        if depth == 0 and word in ",]":
            if first >= 0:
                spans.append((first, last))
            if word == "]":
                return spans, token.start()
            first = -1
            continue
        first = token.start() if first < 0 else first
        last = token.end()
        depth += (word in "{[") - (word in "}]")
    raise BadData("the list does not end")


def _inserted(text: str, key: str, new: list[Entry], where: str) -> str:
    plain = _blanked(text)
    indent, newline = _indent(plain), "\r\n" if "\r\n" in text else "\n"
    body = f",{newline}".join(_deep(one, indent, newline) for one in new)
    start = _list_at(plain, key, where)
    if start is None:
        brace = plain.index("{") + 1
        comma = "," if plain[brace:].strip() != "}" else ""
        block = f'{newline}{indent}"{key}": [{newline}{body}{newline}{indent}]{comma}'
        return text[:brace] + block + (newline if not comma and "\n" not in text[brace:] else "") + text[brace:]
    spans, end = _elements(plain, start)
    last = len(plain[:end].rstrip())
    separator = "" if not spans or plain[last - 1] == "," else ","
    tail = text[last:end].rstrip()  # comments after the last entry
    return f"{text[:last]}{separator}{tail}{newline}{body}{newline}{indent}{text[end:]}"


def _deep(entry: Entry, indent: str, newline: str) -> str:
    """An entry as written in a list of the file: two levels in."""
    return newline.join(indent * 2 + line for line in json.dumps(entry, indent=indent).splitlines())


def _rendered(entry: Entry, text: str, start: int) -> str:
    """An entry in the place of another, with that one's margin."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    margin = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(entry, indent=_indent(_blanked(text))).splitlines()
    return newline.join([lines[0], *(margin + one for one in lines[1:])])


def _indent(plain: str) -> str:
    found = re.search(r"\n([ \t]+)\S", plain)
    return found.group(1) if found else "    "
