"""Free text without its secrets: console, diffs, notes, tracebacks, settings, captions."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from stepscope.track.secrets.assigned import assigned_spans
from stepscope.track.secrets.known import known_values, learn
from stepscope.track.secrets.names import HINTS
from stepscope.track.secrets.shapes import LONG_WORD, PEM_BEGIN, PEM_END, SHAPES, Span, shape_spans

MASK = "***"
CHUNK = 16 << 10
_COLOR = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,65536}={0,2}")


def mask_text(text: str) -> str:
    """The text with `***` for every secret in it.

    >>> mask_text("WARNING:root:password=hunter2secret9 loss=0.3")
    'WARNING:root:password=*** loss=0.3'
    >>> mask_text('{"api_key": "abc123", "max_tokens": 512, "tokenizer": "bert"}')
    '{"api_key": "***", "max_tokens": 512, "tokenizer": "bert"}'
    """
    for secret in known_values():  # one by one: to compile a pattern of all of them takes as long as many searches
        if secret in text:
            text = text.replace(secret, MASK)
    if len(text) <= CHUNK:
        return _masked(text)
    # Piece by piece: a search holds the GIL, and half a second of that would stop the training.
    if "PRIVATE KEY" in text:
        text = _without_key_blocks(text)  # one may span pieces
    return "".join(_masked(piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """The text cut at line ends into pieces of about 16 KiB; a longer line is cut after a word."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + CHUNK, start + 2 * CHUNK) + 1
        end = end or text.find(" ", start + 2 * CHUNK) + 1 or len(text)
        yield text[start:end]
        start = end


def _without_key_blocks(text: str) -> str:
    kept, position = [], 0
    for begin in PEM_BEGIN.finditer(text):
        if begin.start() >= position:
            end = PEM_END.search(text, begin.end())
            kept += [text[position : begin.start()], MASK]
            position = end.end() if end else len(text)
    return "".join((*kept, text[position:]))


def _masked(text: str) -> str:
    if "\x1b[" not in text:
        return _replaced(text, secret_spans(text))
    plain, places = _without_colors(text)
    spans = [(places[start], places[end - 1] + 1) for start, end in secret_spans(plain)]
    return _replaced(text, spans, keep_colors=True)


def _without_colors(text: str) -> tuple[str, list[int]]:
    """The visible text, and the position of each of its characters."""
    places: list[int] = []
    position = 0
    for color in _COLOR.finditer(text):
        places.extend(range(position, color.start()))
        position = color.end()
    places.extend(range(position, len(text)))
    return _COLOR.sub("", text), places


def _replaced(text: str, spans: list[Span], keep_colors: bool = False) -> str:
    kept, position = [], 0
    for start, end in spans:
        kept += [text[position:start], MASK]
        if keep_colors:
            kept += _COLOR.findall(text[start:end])
        position = end
    return "".join((*kept, text[position:])) if kept else text


def secret_spans(text: str, depth: int = 0) -> list[Span]:
    """The secrets in plain text: in order, without overlap."""
    if len(text) < 6:
        return []
    low = text.lower()
    if len(low) != len(text):
        low = text.replace("\u0130", "I").lower()  # the one character whose lower case is longer
    long_words = "\n".join([word for word in text.split() if len(word) >= LONG_WORD])
    found = list(shape_spans(text, long_words))
    if any(hint in low for hint in HINTS):
        named = list(assigned_spans(text, low))
        for start, end in named:
            if depth == 0:
                learn(text[start:end], in_passing=True)
        found += named
    if depth == 0 and len(long_words) >= 24:
        found += _encoded(text, long_words)
    return _merged(found) if found else []


def _encoded(text: str, long_words: str) -> Iterator[Span]:
    """Base64 whose decoded text contains a secret."""
    if not _BASE64.search(long_words):
        return
    for match in _BASE64.finditer(text):
        plain = _decoded(match.group())
        if plain is not None and secret_spans(plain, depth=1):
            yield match.span()


def _decoded(word: str) -> str | None:
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(body[: len(body) // 4 * 4] + _last(body)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return plain if plain.isprintable() or plain.replace("\n", " ").replace("\t", " ").isprintable() else None


def _last(body: str) -> str:
    rest = body[len(body) // 4 * 4 :]
    return rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def ends_in_secret(text: str) -> int:
    """The start of the last word if it may be the beginning of an incomplete secret; else the length.

    >>> ends_in_secret("login with ghp_16C7"), ends_in_secret("epoch 3: 45%")
    (11, 12)
    """
    start = max(text.rfind(" "), text.rfind("\t"), text.rfind("="), text.rfind('"'), text.rfind("'")) + 1
    word = text[start:]
    is_start = any(
        word.startswith(shape.start) or (len(word) >= 2 and shape.start.startswith(word)) for shape in SHAPES
    )
    return start if is_start else len(text)
