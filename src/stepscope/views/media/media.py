"""Non-numeric data of runs at a step: the data of `POST /api/media`."""

from __future__ import annotations

import base64
import hashlib

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Media
from stepscope.runs.points.histograms import decode_histogram
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Histogram, MediaData, MediaItem, MediaRequest, MediaSteps
from stepscope.views.context import Context
from stepscope.views.media.check import image_fault
from stepscope.views.media.index import thinned
from stepscope.views.plain import plain
from stepscope.views.route import route

MAX_RUNS = 200
MAX_ITEMS = 500
MAX_STEPS = 2000
MAX_TEXT = 2 << 20
_TEXT_KINDS = {"text", "table", "curve", "confusion"}
_PLOTLY = "application/vnd.plotly.v1+json"
_SMALL_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


@route("POST", "/api/media")
def media(ctx: Context, request: MediaRequest) -> MediaData:
    """What the runs logged under a key at a step."""
    if len(request.runs) > MAX_RUNS:
        raise UsageError(f"at most {MAX_RUNS} runs at once, not {len(request.runs)}; choose fewer")
    answer = MediaData(items=[], steps=[])
    for run in dict.fromkeys(request.runs):
        try:
            folder = ctx.runs.get(run)
        except NotFound:  # deleted since the page was opened
            continue
        found = folder.media(request.key)
        if found:
            answer.steps.append(MediaSteps(run=run, steps=_steps(found)))
            answer.items += [_item(folder, one) for one in _at(found, request.step)[:MAX_ITEMS]]
    return answer


def _steps(found: list[Media]) -> list[int]:
    return thinned(list(dict.fromkeys(one.step for one in found)), MAX_STEPS)


def _at(found: list[Media], step: int | None) -> list[Media]:
    """Everything at the newest step at or before the requested one; if logged twice, the newer."""
    reached = [one.step for one in found if step is None or one.step <= step]
    if not reached:
        return []
    chosen = max(reached)
    by_index = {one.index: one for one in found if one.step == chosen}
    return [by_index[index] for index in sorted(by_index)]


def _item(folder: RunFolder, one: Media) -> MediaItem:
    item = MediaItem(
        run=folder.id,
        key=one.key,
        step=one.step,
        time=one.time,
        kind=one.kind,
        mime=one.mime,
        index=one.index,
        count=one.count,
        meta=plain(one.meta),
        url=_url(folder, one),
    )
    fault = image_fault(one.data, one.mime) if one.data is not None else None
    if fault is not None:
        item.url, item.error = None, f"This image is not shown: {fault}."
        return item
    try:
        if one.kind == "histogram":
            shape = decode_histogram(folder.media_bytes(one))
            item.histogram = Histogram(edges=shape.edges.tolist(), counts=shape.counts.tolist())
        elif (one.kind in _TEXT_KINDS or one.mime == _PLOTLY) and one.size <= MAX_TEXT:
            item.text = folder.media_bytes(one).decode("utf-8", "replace")
    except (BadData, NotFound) as error:
        item.error = str(error)
    return item


def _url(folder: RunFolder, one: Media) -> str | None:
    """The address of the bytes: a URL or, for a tiny image, a data URL."""
    if one.kind == "histogram" or (one.data is None and one.sha256 is None):
        return None
    if one.data is None:
        return f"/api/blob/{folder.id}/{one.sha256}"
    if one.mime in _SMALL_IMAGES:
        return f"data:{one.mime};base64,{base64.b64encode(one.data).decode()}"
    return f"/api/blob/{folder.id}/{hashlib.sha256(one.data).hexdigest()}"
