"""Text, Markdown and HTML. All three are data: pages show them as text, sanitized, or in a sandbox."""

from __future__ import annotations

import os

from stepscope.errors import UsageError
from stepscope.track.media.loggable import Encoded, harmless, one
from stepscope.track.media.sniff import read_file
from stepscope.track.secrets import mask_text

MAX_BYTES = 8 << 20


@harmless
class Text:
    """A piece of text to log: `run.log({"sample": stepscope.Text(decoded)})`, or just the string itself."""

    def __init__(self, text: str, *, markdown: bool = False, caption: str | None = None) -> None:
        if not isinstance(text, str):
            raise UsageError(f"text must be a string, not a {type(text).__name__}; wrap it in str(...)")
        self.caption = caption
        self._markdown = markdown
        self._text = _checked(text, "the text")

    def encode(self, key: str, step: int, time: float) -> Encoded:
        name = "markdown" if self._markdown else "plain"
        mime = f"text/{name}; charset=utf-8"
        data = _encoded(self._text)
        return one(key, step, time, kind="text", mime=mime, data=data, meta={"format": name}, caption=self.caption)


class Markdown(Text):
    """Text shown as Markdown; HTML inside it is not executed."""

    def __init__(self, text: str, *, caption: str | None = None) -> None:
        super().__init__(text, markdown=True, caption=caption)


@harmless
class Html:
    """A page to log, from a string or the path of a file (a `pathlib.Path`). It is only ever shown in a sandbox."""

    def __init__(self, html: str | os.PathLike[str], *, caption: str | None = None) -> None:
        self.caption = caption
        if isinstance(html, os.PathLike):
            self._html = read_file(html, "HTML file", MAX_BYTES).decode("utf-8", errors="replace")
        elif isinstance(html, str):
            self._html = _checked(html, "the HTML")
        else:
            raise UsageError(f"HTML must be a string or a pathlib.Path, not a {type(html).__name__}")

    def encode(self, key: str, step: int, time: float) -> Encoded:
        data = _encoded(self._html)
        return one(key, step, time, kind="html", mime="text/html", data=data, meta={}, caption=self.caption)


def _checked(text: str, what: str) -> str:
    if len(text) > MAX_BYTES:
        raise UsageError(
            f"{what} has {len(text):,} characters, more than the maximum of {MAX_BYTES:,}; log a part "
            "of it, or write it to a file and use run.log_artifact(path)"
        )
    return text


def _encoded(text: str) -> bytes:
    return mask_text(text).encode("utf-8", errors="backslashreplace")  # lone surrogates stay visible
