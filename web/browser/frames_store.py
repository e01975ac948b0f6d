"""Logged pages and plotly figures that try to get out of their frames; they all name the address that listens."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from stepscope.records import End, Media, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

TITLE = "top.document.title=parent.document.title=document.title='PWNED'"
PAGES = {
    "scripts": "<script>{title}</script><svg onload=\"{title}\"></svg><img src=x onerror=\"{title}\">"
    "<details open ontoggle=\"{title}\"><summary>s</summary></details><input autofocus onfocus=\"{title}\">",
    "fetches": "<img src='{address}/img'><video src='{address}/v' poster='{address}/p' autoplay></video>"
    "<audio src='{address}/a' autoplay></audio><object data='{address}/o'></object><embed src='{address}/e'>"
    "<picture><source srcset='{address}/s'><img src='{address}/i'></picture><track src='{address}/t'>",
    "styles": "<link rel=stylesheet href='{address}/css'><link rel=preload as=image href='{address}/pre'>"
    "<link rel=preconnect href='{address}'><link rel=prefetch href='{address}/next'>"
    "<link rel=icon href='{address}/icon'>"
    "<style>@import url('{address}/import');@font-face{{font-family:f;src:url('{address}/font')}}"
    "body{{font-family:f;background:url('{address}/bg')}}</style>",
    "refresh": "<meta http-equiv=refresh content='0;url={address}/refresh'>"
    "<noscript><meta http-equiv=refresh content='0;url={address}/noscript'></noscript>",
    "frames": "<iframe src='{address}/frame'></iframe><iframe src='/api/info'></iframe>"
    "<iframe srcdoc=\"<script>{title}</script><img src='{address}/srcdoc'>\"></iframe>",
    "base": "<base href='{address}/' target=_top><img src='relative'><link rel=stylesheet href='relative.css'>",
    "links": "<a id=top target=_top href='{address}/top'>top</a> <a id=self href='{address}/self'>self</a> "
    "<a id=new target=_blank href='{address}/new'>new</a> <a id=ping ping='{address}/ping' href='#x'>ping</a> "
    "<a id=script href=\"javascript:{title}\">script</a> "
    "<form action='{address}/form'><button id=send>send</button></form>",
}  # fmt: skip


def _figures(address: str) -> dict[str, dict[str, Any]]:
    markup = f"<img src='{address}/hover' onerror=\"{TITLE}\"><script>{TITLE}</script>"
    link = f"<a href=\"javascript:{TITLE}\" target=_top>x</a><a href='{address}/link' target=_top>y</a>"
    line = {"type": "scatter", "y": [1, 3, 2], "text": [markup] * 3, "hovertemplate": markup, "name": link}
    picture = {"type": "image", "source": f"{address}/source"}
    behind = {"source": f"{address}/behind", "xref": "paper", "yref": "paper", "x": 0, "y": 1, "sizex": 1, "sizey": 1}
    land = {"type": "scattergeo", "lon": [1], "lat": [2]}
    config = {"topojsonURL": f"{address}/topo/", "plotlyServerURL": address, "mapboxAccessToken": "pk.x"}
    return {
        "links": {"data": [line], "layout": {"title": {"text": link + markup}, "annotations": [{"text": link}]}},
        "pictures": {"data": [picture, line], "layout": {"images": [behind]}},
        "maps": {"data": [land], "layout": {"geo": {"scope": "world"}}, "config": config},
        "prototypes": {
            "data": [{**line, "__proto__": {"polluted": 1}}],
            "layout": {"constructor": {"prototype": {"polluted": 1}}, "template": {"layout": {"__proto__": {"p": 1}}}},
            "frames": [{"data": [picture]}],
        },
        "sound": {"data": [{"type": "scatter", "y": [1, 2, 4]}], "layout": {"title": {"text": "drawn"}}},
    }


def frames(store: Path, port: int) -> None:
    now = time.time()
    address = f"http://127.0.0.1:{port}"
    meta = RunMeta(id=new_run_id(now), project="hostile", name="frames", created=now)
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    for key, text in PAGES.items():
        body = f"<!doctype html><p id=here>shown</p>{text.format(address=address, title=TITLE)}"
        writer.media(Media(key=key, step=1, time=now, kind="html", mime="text/html"), body.encode())
    for key, figure in _figures(address).items():
        text = json.dumps(figure).encode()
        writer.media(
            Media(key=f"figure/{key}", step=1, time=now, kind="figure", mime="application/vnd.plotly.v1+json"), text
        )
    writer.close(End(time=now, status="finished", exit_code=0))
