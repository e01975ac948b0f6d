"""What to remove from a run: a text in its possible encodings, or a pattern."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from stepscope.errors import UsageError

MASK = "***"
_SHORTEST = 4


def written_forms(value: str) -> list[str]:
    """A text in plain form, URL-encoded, JSON-encoded and base64; longest first.

    >>> written_forms("p@ss word1")
    ['cEBzcyB3b3JkMQ', 'p%40ss%20word1', 'p%40ss+word1', 'p@ss word1']
    """
    raw = value.encode("utf-8", "surrogatepass")
    encoded = base64.b64encode(raw).decode().rstrip("=")
    forms = {value, quote(raw, safe=""), quote_plus(raw), json.dumps(value)[1:-1], encoded}
    return sorted(forms, key=lambda form: (-len(form), form))


class Needle:
    """Finds, replaces and counts matches in text and bytes."""

    def __init__(self, pattern: str, is_regex: bool = False) -> None:
        if not is_regex and len(pattern) < _SHORTEST:
            raise UsageError(
                f"{pattern!r} has fewer than {_SHORTEST} characters and would match ordinary words; give a longer text"
            )
        source = pattern if is_regex else "|".join(map(re.escape, written_forms(pattern)))
        try:
            self._text = re.compile(source)
            self._bytes = re.compile(source.encode())
        except (re.error, UnicodeError) as fault:
            raise UsageError(
                f"{pattern!r} is not a valid regular expression: {fault}; correct it, or omit --regex "
                "to search for plain text"
            ) from None
        if self._text.search("") is not None:
            raise UsageError(f"{pattern!r} matches the empty text, so it would match everywhere; narrow it")

    def clean_text(self, text: str) -> tuple[str, int]:
        """The text with `***` for each match, and the number of matches."""
        return self._text.subn(MASK, text)

    def clean_bytes(self, data: bytes) -> tuple[bytes, int]:
        """Text gets `***`; in binary data each match becomes stars of the same length, so that offsets stay valid."""
        try:
            text, count = self.clean_text(data.decode())
            return (text.encode(), count) if count else (data, 0)
        except UnicodeDecodeError:
            return self._bytes.subn(lambda match: b"*" * len(match.group()), data)

    def count_in(self, data: bytes) -> int:
        return self.clean_bytes(data)[1]
