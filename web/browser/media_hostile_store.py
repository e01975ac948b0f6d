"""Media that try to be something else: scripts as pictures, bombs, cut files, names that are markup."""

from __future__ import annotations

import json
import struct
import time
import zlib
from pathlib import Path
from typing import Any

from stepscope.records import End, Media, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"top.document.title='PWNED'\"><script>1</script></svg>"
HTML = b"<script>top.document.title='PWNED';parent.document.title='PWNED'</script><h1>page</h1>"


def _png(width: int, height: int, said: tuple[int, int] | None = None) -> bytes:
    """A grey picture; `said` is what its header claims instead."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * 3 + y * 5) % 256 for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", *(said or (width, height)), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def media_hostile(store: Path) -> None:
    now = time.time()
    meta = RunMeta(id=new_run_id(now), project="hostile", name=SCRIPT, created=now)
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)

    def put(key: str, kind: str, mime: str, data: bytes, **about: Any) -> None:
        writer.media(Media(key=key, step=1, time=now, kind=kind, mime=mime, meta=about), data)

    good = _png(64, 64)
    boxes = [{"box": [1, 2, 9, 9], "label": SCRIPT}, "x"]
    put("good", "image", "image/png", good, width=64, height=64, caption=SCRIPT, boxes=boxes)
    put("svg", "image", "image/png", SVG + b" " * 70_000, width=10, height=10)
    put("svg inline", "image", "image/svg+xml", SVG)
    put("html as image", "image", "text/html", HTML)
    put("bomb", "image", "image/png", _png(64, 64, said=(90_000, 90_000)), width=64, height=64)
    put("cut", "image", "image/png", good[: len(good) // 2] + b"\0" * 70_000, width=64, height=64)
    put(SCRIPT, "text", "text/plain", f"# {SCRIPT}\n[x](javascript:alert(1))".encode(), format="markdown")
    put("page", "html", "text/html", HTML)
    put("sound", "audio", "audio/wav", b"RIFF" + b"\0" * 50)
    put("clip", "video", "image/apng", b"\x89PNG\r\n\x1a\n" + b"\0" * 80, frames=3, fps=4)
    rows = [[SCRIPT, "=cmd()", "https://example.org/x.png", None]] * 3
    put("table", "table", "application/json", json.dumps({"columns": [SCRIPT, "b", "c", "d"], "rows": rows}).encode())
    put("matrix", "confusion", "application/json", b'{"counts": [[1, 2]], "labels": []}')
    put("curve", "curve", "application/json", b'{"curves": "no"}', curve="roc")
    pie = {"type": "pie", "labels": [SCRIPT], "values": [1]}
    layout = {"title": {"text": SCRIPT}, "images": [{"source": "https://example.org/beacon.png"}]}
    figure = {"data": [pie], "layout": layout}
    put("figure", "figure", "application/vnd.plotly.v1+json", json.dumps(figure).encode())
    put("vectors", "embedding", "application/octet-stream", b"\0" * 10, rows=10, width=100)
    writer.close(End(time=now, status="finished", exit_code=0))
