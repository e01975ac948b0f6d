"""A report as one HTML file: the viewer's template with the report's data inserted."""

from __future__ import annotations

import base64
import os
import re
import zlib
from html import escape
from pathlib import Path
from typing import Any

import msgspec

import stepscope
from stepscope.errors import NotFound
from stepscope.files.opening import read_text
from stepscope.plain_text import clean

_LARGEST_VIEWER = 64 << 20
_SLOT = re.compile(r'<script\b[^>]*\bid="report-pack"[^>]*>\s*</script>')
_TITLE = re.compile(r"<title>[^<]*</title>")


def viewer_path() -> Path:
    """The built viewer, which is stored beside the app; `$STEPSCOPE_STATIC` names another build of both."""
    static = os.environ.get("STEPSCOPE_STATIC") or Path(stepscope.__file__).parent / "server" / "static"
    return Path(static) / "report-viewer.html"


def page(pack: Any, title: str, template: Path | None = None) -> bytes:
    """The HTML document. It needs no network, and its data cannot become markup: base64, or escaped JSON."""
    path = template or viewer_path()
    html = _template(path)
    html = _TITLE.sub(lambda _: f"<title>{escape(clean(title))}</title>", html, count=1)
    html, filled = _SLOT.subn(lambda _: _slot(pack), html, count=1)
    if not filled:
        raise NotFound(f"{path} has no place for the report's data; run `make setup` to build the viewer again")
    return html.encode("utf-8", "replace")


def packed_bytes(value: Any) -> int:
    """The approximate size of a value in the file, or slightly more, using fast compression."""
    return len(zlib.compress(msgspec.json.encode(value), 1)) * 4 // 3


def template_bytes(template: Path | None = None) -> int:
    return len(_template(template or viewer_path()).encode())


def _template(path: Path) -> str:
    try:
        return read_text(path, _LARGEST_VIEWER)
    except FileNotFoundError:
        raise NotFound(
            f"the report viewer is not built: {path} is missing; run `make setup` in a checkout, "
            "or save the report as Markdown (.zip or .md)"
        ) from None


def _slot(pack: Any) -> str:
    """As JSON, or compressed if that is smaller."""
    data = msgspec.json.encode(pack)
    squeezed = base64.b64encode(zlib.compress(data, 6)).decode()
    if len(squeezed) < len(data):
        encoding, text = "deflate-base64", squeezed
    else:
        encoding, text = "json", data.decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")
        text = text.replace("\u2029", "\\u2029")
    return f'<script type="application/octet-stream" id="report-pack" data-encoding="{encoding}">{text}</script>'
