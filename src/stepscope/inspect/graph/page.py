"""The graph as one HTML file: it contains the viewer and the data, and needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from pathlib import Path

import msgspec

import stepscope
from stepscope.errors import NotFound
from stepscope.files.opening import read_text
from stepscope.inspect.graph.data import GraphData

_LARGEST_VIEWER = 64 << 20
_SLOT = re.compile(r'(<script type="application/json" id="graph-data">)\s*(</script>)')
_SCRIPT = re.compile(r"<script(?![^>]*application/json)[^>]*>(.*?)</script>", re.DOTALL)
_TITLE = re.compile(r"<title>[^<]*</title>")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\s*')


def viewer_path() -> Path:
    """The built viewer, which is stored beside the app."""
    return Path(stepscope.__file__).parent / "server" / "static" / "graph-viewer.html"


def page(data: GraphData, title: str, template: Path | None = None) -> str:
    """The HTML document.

    Names in the data cannot become markup: they are JSON with every `<` escaped, and the page's policy allows only
    the viewer's own script, by its hash.
    """
    path = template or viewer_path()
    try:
        html = read_text(path, _LARGEST_VIEWER)
    except FileNotFoundError:
        raise NotFound(
            f"the graph viewer is not built: {path} is missing; run `make setup` in a checkout, "
            "or save the graph as .svg, .png, .json or .dot"
        ) from None
    payload = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    scripts = [_hash(body) for body in _SCRIPT.findall(html)]
    html = _POLICY.sub("", html)
    html = html.replace("<head>", f"<head>{_policy(scripts)}", 1)
    html = _TITLE.sub(lambda _: f"<title>{escape(title)}</title>", html, count=1)
    html, filled = _SLOT.subn(lambda slot: f"{slot[1]}{payload}{slot[2]}", html, count=1)
    if not filled:
        raise NotFound(f"{path} has no place for the graph's data; run `make setup` to build the viewer again")
    return html


def _hash(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def _policy(scripts: list[str]) -> str:
    allowed = " ".join(scripts) or "'none'"
    rules = [
        "default-src 'none'",
        f"script-src {allowed}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "worker-src blob: data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
