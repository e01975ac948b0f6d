"""Source text as a terminal lays it out: tabs, wide and combining letters, and nothing that could command it."""

from __future__ import annotations

import unicodedata

TAB = 4
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that reorder what is shown after them: source could be made to read as what it is not."""


def _letter(char: str, at: int) -> tuple[str, int]:
    """What is printed for one character at a column, and how many columns it takes."""
    if char == "\t":
        wide = TAB - at % TAB
        return " " * wide, wide
    if " " <= char <= "~":
        return char, 1
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cs", "Zl", "Zp") or char in _DIRECTIONS:
        return "\N{REPLACEMENT CHARACTER}", 1
    if kind in ("Mn", "Me", "Cf"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Cells:
    """One line of text: what is printed for each letter, and the column each begins at.

    >>> line = Cells("\\tx = '漢'")
    >>> line.text, line.starts[1], line.width
    ("    x = '漢'", 4, 12)
    """

    def __init__(self, text: str) -> None:
        self.letters: list[str] = []
        self.starts: list[int] = []
        at = 0
        for char in text:
            shown, wide = _letter(char, at)
            self.letters.append(shown)
            self.starts.append(at)
            at += wide
        self.width = at

    @property
    def text(self) -> str:
        return "".join(self.letters)

    def column(self, letter: int) -> int:
        """The column where a letter begins; past the end, the end."""
        return self.starts[letter] if 0 <= letter < len(self.starts) else self.width

    def window(self, left: int, wide: int) -> str:
        """What is seen of the line through a window; an ellipsis stands where it was cut."""
        if left <= 0 and self.width <= wide:
            return self.text
        right = left + wide
        low = left + 1 if left > 0 else 0
        high = right - 1 if self.width > right else right
        ends = [*self.starts[1:], self.width]
        inside = [i for i, start in enumerate(self.starts) if low <= start and ends[i] <= high]
        if not inside:
            return "…" if self.text.strip() else ""
        lead = self.starts[inside[0]] - low
        body = " " * lead + "".join(self.letters[i] for i in inside)
        return ("…" if left > 0 else "") + body + ("…" if self.width > right else "")


def width_of(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return len(text) if text.isascii() and text.isprintable() else Cells(text).width
