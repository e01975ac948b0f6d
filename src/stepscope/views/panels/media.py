"""What the runs logged under a key, at a step: images, sounds, texts, tables."""

from __future__ import annotations

import time

from msgspec.structs import replace

from stepscope.errors import NotFound
from stepscope.views.charts import MediaItem, MediaRequest
from stepscope.views.media.blob import BlobRequest, blob
from stepscope.views.media.media import media
from stepscope.views.media.projection import Projection, ProjectionRequest, projection
from stepscope.views.panels._asked import folders, keys_of, need_keys
from stepscope.views.panels._media_text import media_text
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures, markdown_text

_PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/apng": "png"}
_PROJECTION_S = 20.0


class MediaOptions(Options, kw_only=True):
    key: str = ""
    step: int | None = None
    """Each run shows its newest at or before this step; by default its newest."""
    most_steps: int = 12
    """Number of steps that a file includes for the slider."""


def check(bound: Bound) -> None:
    need_keys(bound, [bound.options.key] if bound.options.key else [], keys_of(bound, set()))


def pack(bound: Bound, packing: Packing) -> None:
    for folder in folders(bound):
        packing.medium(folder.id, bound.options.key, bound.options.step, max(1, min(bound.options.most_steps, 200)))
        if folder.media_keys().get(bound.options.key) == "embedding":
            _pack_projections(bound, folder.id, packing)


def _pack_projections(bound: Bound, run: str, packing: Packing) -> None:
    """An embedding as a scatter plot, in 2D and 3D."""
    found = media(bound.ctx, MediaRequest(runs=[run], key=bound.options.key, step=bound.options.step)).items
    for dims in (2, 3) if found else ():
        request = ProjectionRequest(run=run, key=bound.options.key, step=found[0].step, dims=dims)
        until = time.monotonic() + _PROJECTION_S
        while not projection(bound.ctx, request).done and time.monotonic() < until:
            time.sleep(0.05)
        packing.ask("POST /api/projection", request, _only_pca, ("run", "key", "step", "method", "dims"))


def _only_pca(found: Projection) -> Projection:
    """What a file can draw: the one method it includes, with as many digits as a screen can show."""
    x, y, z = ([float(f"{value:.5g}") for value in axis] for axis in (found.x, found.y, found.z))
    return replace(found, x=x, y=y, z=z, methods=["pca"], done=True)


def write(bound: Bound, out: Pictures) -> str:
    """Images as files, one column per run; other kinds as text."""
    options: MediaOptions = bound.options
    found = media(bound.ctx, MediaRequest(runs=bound.runs, key=options.key, step=options.step)).items
    by_run: dict[str, list[MediaItem]] = {}
    for item in found:
        by_run.setdefault(item.run, []).append(item)
    if not by_run:
        return f"*{markdown_text(options.key)}: nothing up to step {options.step}.*\n"
    names = {entry.id: entry.name for entry in bound.entries}
    heads = [f"{names.get(run, run)}, step {items[0].step}" for run, items in by_run.items()]
    if all(item.mime in _PICTURES for items in by_run.values() for item in items):
        cells = ["<br>".join(_shown(bound, item, out) for item in items[:16]) for items in by_run.values()]
        lines = ["| " + " | ".join(markdown_text(one) for one in heads) + " |", "|" + " :---: |" * len(heads)]
        return "\n".join([*lines, "| " + " | ".join(cells) + " |", ""])
    parts = []
    for head, items in zip(heads, by_run.values(), strict=True):
        parts.append(
            f"**{markdown_text(head)}**\n\n" + "\n".join(_shown(bound, item, out) for item in items[:16]) + "\n"
        )
    return "\n".join(parts)


def _shown(bound: Bound, item: MediaItem, out: Pictures) -> str:
    if item.error is not None:
        return f"*{markdown_text(item.error)}*"
    if item.mime in _PICTURES:
        data = _bytes(bound, item)
        if data is not None:
            name = f"{item.key}-{item.step}-{item.index}"
            return out.picture(name, _PICTURES[item.mime], data, f"{item.key}, step {item.step}").rstrip("\n")
    if item.text is not None:
        return media_text(item, bound.ctx.catalogue.entry(item.run).name, out)
    return f"*{markdown_text(item.kind)}: see it in the app.*"


def _bytes(bound: Bound, item: MediaItem) -> bytes | None:
    import base64

    url = item.url or ""
    if url.startswith("data:"):
        return base64.b64decode(url.partition(",")[2])
    run, _, sha256 = url.removeprefix("/api/blob/").partition("/")
    try:
        return blob(bound.ctx, BlobRequest(run=run, sha256=sha256)).body
    except NotFound:
        return None


PANEL = PanelKind("media", "Anything logged under a key, at a step", MediaOptions, pack, write, check)
