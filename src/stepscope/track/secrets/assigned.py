"""A small tokenizer for names with values: a suspicious name, the separator, and the value, in any syntax.

It searches for the few words that suspicious names contain and parses from there, so that text without them costs
nothing: Python, JSON (also inside a string), YAML, dotenv, shell, DSNs, queries of URLs, headers, XML, netrc, log
lines, prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.track.secrets.names import HINTS, Verdict, is_secret_name
from stepscope.track.secrets.shapes import Span
from stepscope.track.secrets.values import Style, is_harmless, is_secret_value

_LONGEST_NAME = 200
_LONGEST_JUDGED = 400
_NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_REST = re.compile(r"[\w.-]{0,200}")
_BETWEEN = re.compile(
    r"""(?P<close>(?:\\{0,3}["'`]|&quot;|%22)?)\]?\)?\*{0,2}
    (?:
      (?P<tag>>)
      | [ \t]{0,40}(?P<mark>=>|:=|===?|=|%3[dD]|%3[aA]|:(?!//|:))(?P<after>[ \t]{0,40})
      | (?P<value>\s{0,9},?\s{0,9}\\{0,3}["']?value\\{0,3}["']?\s{0,9}[=:]\s{0,9})
      | (?P<pair>\s{0,3},\s{0,9})(?=\\{0,3}["'])
      | (?P<space>[ \t]{1,9}(?:(?:is|was|as|are|to)\b:?[ \t]{1,9}|\|[ \t]{0,40}|│[ \t]{0,40})?)
    )""",
    re.VERBOSE,
)
_OPEN = re.compile(r"""\s{0,40}(?:[rbfuRBFU]{1,2}(?=["']))?(?P<quote>\\{0,3}(?:\"\"\"|'''|["'`])|&quot;|%22)""")
_ANNOTATED = re.compile(r"""[\w.\[\] |,]{1,80}=[ \t]{0,9}(?=["'])""")
_STOP = (
    r"""[,;&|](?=\s|$|[\w.\-%]{1,40}[=:])|[)\]}]+(?=[\s,;.:)\]}"']|$)|\\[nrt](?=\W|$|[\w.]{1,40}[=:])"""
    r"""|</|<(?=br|[pbi]>)|%26|&amp;|&quot;"""
)
_BARE = re.compile(rf"""(?:(?!{_STOP}|["'`](?!\w))\S){{1,4000}}""")
_BRACED = re.compile(r"\{[^{}\s]{1,200}\}(?=[;\s]|$)")
_TAGGED = re.compile(r"[^<\n]{1,4000}(?=</)")
_BLOCK = re.compile(
    r"[|>][-+\d]{0,2}[ \t]*\n"
    r"(?P<lines>(?P<indent>[ \t]+)\S[^\n]*(?:\n|$)(?:(?P=indent)[^\n]*(?:\n|$)|[ \t]*\n)*)"
)
_SCHEME = re.compile(
    r"(?i:bearer|basic|token|digest|negotiate|ntlm|api-?key|key|aws4-hmac-sha256|sharedkey|hawk|oauth)[ \t]+(?=\S)"
)
_USER = re.compile(r"""(?:-u|--user)[ =]["']?[^\s:'"]{1,100}:(?P<password>[^\s'"]{1,200})""")
_WHOLE_LINE = frozenset({"cookie", "set-cookie", "authorization", "proxy-authorization"})


class _Name(NamedTuple):
    start: int
    end: int
    text: str
    verdict: Verdict


class _Bare:
    """Unquoted values. One that begins inside another ends with it, so that `key=key=key=…` is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self._end = -1

    def span(self, at: int) -> Span | None:
        if not self._start <= at < self._end:
            match = _BARE.match(self._text, at)
            if match is None:
                return None
            self._start, self._end = match.span()
        return at, self._end


def assigned_spans(text: str, low: str) -> Iterator[Span]:
    """The values of suspicious names. `low` is the text in lower case."""
    seen = -1
    bare = _Bare(text)
    for at in _hits(low):
        if at < seen:
            continue
        name = _name_at(text, at)
        seen = name.end if name is not None else at + 1
        if name is not None and name.verdict != "no":
            for span in _value_after(text, name, bare):
                seen = max(seen, span[1])
                yield span
    if "-u " in low or "--user" in low:
        yield from (m.span("password") for m in _USER.finditer(text) if not m["password"].isdigit())


def _hits(low: str) -> list[int]:
    found: list[int] = []
    for hint in HINTS:
        at = low.find(hint)
        while at >= 0:
            found.append(at)
            at = low.find(hint, at + 1)
    found.sort()
    return found


def _name_at(text: str, at: int) -> _Name | None:
    """The whole name around a hint, without log prefixes (`WARNING:root:`) and flags' dashes."""
    start = at
    least = max(0, at - _LONGEST_NAME)
    while start > least and text[start - 1] in _NAME_LETTERS:
        start -= 1
    match = _REST.match(text, at)
    end = match.end() if match else at
    while end > at and text[end - 1] in ".-":
        end -= 1
    if end <= at or (start > 0 and text[start - 1].isalnum()):
        return None
    name = text[start:end]
    verdict = is_secret_name(name)
    if verdict in ("maybe", "no") and name[:3].lower() == "key":
        verdict = _with_word_before(text, start, name, verdict)
    return _Name(start, end, name, verdict)


def _with_word_before(text: str, start: int, name: str, verdict: Verdict) -> Verdict:
    """The verdict on two words, as in `api key`."""
    if start < 2 or text[start - 1] != " ":
        return verdict
    before = re.search(r"[A-Za-z]{2,20}$", text[max(0, start - 21) : start - 1])
    return is_secret_name(f"{before[0]}_{name}") if before else verdict


def _value_after(text: str, name: _Name, bare: _Bare) -> Iterator[Span]:
    between = _BETWEEN.match(text, name.end)
    if between is None:
        return
    at = between.end()
    if between["tag"]:
        yield from _tag_content(text, name, at)
        return
    is_closed = bool(between["close"])
    if between["pair"] and not is_closed:
        return
    mark = between["mark"] or ""
    if mark == ":" and (annotated := _ANNOTATED.match(text, at)):
        at = annotated.end()
    if not is_closed and _ends_quotes(text, name, at):
        return
    ends_line = mark == ":" and text[at : at + 1] == "\n" and not is_closed
    quoted = None if ends_line else _quoted(text, at)
    is_marked = bool(mark or between["value"])
    if quoted is not None:
        yield from _quoted_value(text, name, quoted, "pair" if between["pair"] else "quoted", is_marked)
    elif is_marked:
        yield from _bare_value(text, name, bare, between, at)
    elif between["space"]:
        yield from _next_word(text, name, bare, at)


def _tag_content(text: str, name: _Name, at: int) -> Iterator[Span]:
    """The text inside `<name>...</name>`."""
    opens = name.start > 0 and text[name.start - 1] == "<"
    inner = _TAGGED.match(text, at) if opens else None
    if inner is not None:
        yield from _judged(name, text, inner.span(), "tag")


def _ends_quotes(text: str, name: _Name, at: int) -> bool:
    """Whether the name is at the start of quotes that end here: "Password: "."""
    before = text[max(0, name.start - 1) : name.start]
    return before in ("'", '"') and text[at : at + 1] == before


def _next_word(text: str, name: _Name, bare: _Bare, at: int) -> Iterator[Span]:
    is_flag = text[name.start : name.start + 1] == "-" or text[max(0, name.start - 1) : name.start] == "-"
    value = bare.span(at)
    if value is not None and text[at] != "-":
        yield from _judged(name, text, value, "flag" if is_flag else "space")


def _quoted(text: str, at: int) -> tuple[Span, str] | None:
    opened = _OPEN.match(text, at)
    if opened is None:
        return None
    quote = opened["quote"]
    start = opened.end()
    end = text.find(quote, start, start + 10_000)
    while end > 0 and len(quote) == 1 and text[end - 1] == "\\" and text[end - 2 : end - 1] != "\\":
        end = text.find(quote, end + 1, start + 10_000)
    if len(quote) < 3:
        line = text.find("\n", start)
        end = line if end < 0 <= line or 0 <= line < end else end
    return (start, end if end >= 0 else min(len(text), start + 10_000)), quote


def _quoted_value(text: str, name: _Name, found: tuple[Span, str], style: Style, marked: bool) -> Iterator[Span]:
    (start, end), _quote = found
    if style == "quoted" and not marked:
        style = "space"  # a flag or a word, then something in quotes
        if text[name.start] == "-":
            style = "quoted"
    scheme = _SCHEME.match(text, start, end) if name.verdict == "token" else None
    if scheme is not None and scheme.end() < end:
        yield from _credential(text, scheme.end(), end)
        return
    yield from _judged(name, text, (start, end), style)


def _bare_value(text: str, name: _Name, bare: _Bare, between: re.Match[str], at: int) -> Iterator[Span]:
    mark = between["mark"] or "="
    if name.text.lower() in _WHOLE_LINE and mark in (":", "="):
        yield from _header(text, name, at)
        return
    if mark == ":" and (block := _BLOCK.match(text, at)):
        if name.verdict in ("password", "yes", "token"):
            yield block.span("lines")
        return
    braced = _BRACED.match(text, at) if mark == "=" and name.verdict == "password" else None
    if braced is not None and text[max(0, name.start - 1) : name.start] == ";":  # ODBC
        yield at + 1, braced.end() - 1
        return
    value = bare.span(at)
    if value is not None and mark not in ("==", "==="):
        yield from _judged(name, text, value, _style(text, name, value, between))


def _style(text: str, name: _Name, value: Span, between: re.Match[str]) -> Style:
    """`x: v` alone on its line is YAML; a word after `=` followed by more is an argument in code."""
    mark = between["mark"] or "="
    follows = text[value[1] : value[1] + 1]
    ends_line = follows in ("", "\n", "\r")
    if mark == ":" or mark.lower() == "%3a":
        line_start = text.rfind("\n", 0, name.start) + 1
        alone = ends_line and not text[line_start : name.start].strip(" \t-+\"'")
        return "line" if alone and not text[value[0] : value[1]].isdigit() else "colon"
    has_spaces = bool(between["after"]) or text[between.start() : between.start("mark")].endswith((" ", "\t"))
    if has_spaces or follows in (",", ")"):
        return "flag"
    return "equals"


def _header(text: str, name: _Name, at: int) -> Iterator[Span]:
    """`Authorization: Bearer x`, `Cookie: a=b; c=d`: to the end of the line, or of the quotes around the header."""
    end = text.find("\n", at, at + 8000)
    end = end if end >= 0 else min(len(text), at + 8000)
    before = text[name.start - 1] if name.start else ""
    if before in ("'", '"') and (closing := text.find(before, at, end)) >= 0:
        end = closing
    end = at + len(text[at:end].rstrip())
    scheme = _SCHEME.match(text, at, end)
    if scheme is not None:
        yield from _credential(text, scheme.end(), end)
    elif "cookie" in name.text.lower() and "=" in text[at:end]:
        yield at, end
    elif (value := _BARE.match(text, at, end)) is not None:
        yield from _judged(name, text, value.span(), "colon")


def _credential(text: str, start: int, end: int) -> Iterator[Span]:
    """What follows `Bearer`: one word, or all of `Digest username="…", response="…"`."""
    value = text[start:end]
    if "=" not in value.rstrip("=") and (bare := _BARE.match(text, start, end)):
        end, value = bare.end(), bare.group()
    if not is_harmless("", value) and len(value) >= 4:
        yield start, end


def _judged(name: _Name, text: str, span: Span, style: Style) -> Iterator[Span]:
    if is_secret_value(name.text, text[span[0] : min(span[1], span[0] + _LONGEST_JUDGED)], name.verdict, style):
        yield span
