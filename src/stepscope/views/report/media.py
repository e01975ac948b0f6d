"""The images, sounds and texts in a self-contained report, at some of their steps."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from stepscope.errors import BadData, NotFound
from stepscope.views.charts import MediaItem, MediaRequest
from stepscope.views.context import Context
from stepscope.views.media.media import media
from stepscope.views.media.shown import SHOWN_MEDIA

LARGEST = 2 << 20
"""Maximum size of one medium. A large video is worth its bytes to some readers, not to all."""


class MediaWish(NamedTuple):
    """What one run logged under one key."""

    run: str
    key: str
    wanted: frozenset[int | None]
    """Required steps; None for the newest."""
    steps: int
    """Total number of steps, if there is room."""


class PackedMedia(msgspec.Struct):
    run: str
    key: str
    steps: list[int]
    """The steps in the file."""
    items: list[MediaItem]


def packed_media(
    ctx: Context, wishes: Sequence[MediaWish], budget: int, leave_out: Callable[[str], None]
) -> tuple[list[PackedMedia], dict[str, str]]:
    """First the required steps of every run; then other steps, one per run in turn, as long as they fit."""
    plans = [(_packed(wish), *_plan(ctx, wish)) for wish in wishes]
    blobs: dict[str, str] = {}
    spent, full = 0, False
    for turn in range(max((len(steps) for _, steps, _ in plans), default=0)):
        for packed, steps, _ in plans:
            if turn < len(steps) and not full:
                items = media(ctx, MediaRequest(runs=[packed.run], key=packed.key, step=steps[turn])).items
                carried, size = _carried(ctx, items, blobs)
                if spent + size > budget and turn > 0:
                    full = True
                    continue
                spent += size
                blobs.update(carried)
                packed.items += [_told(item, blobs) for item in items]
                packed.steps.append(steps[turn])
    for packed, _, total in plans:
        packed.steps.sort()
        if len(packed.steps) < total:
            leave_out(
                f"{packed.key} of {_name(ctx, packed.run)}: {len(packed.steps)} of {total} steps are in this file."
            )
    return [packed for packed, _, _ in plans if packed.items], blobs


def _packed(wish: MediaWish) -> PackedMedia:
    return PackedMedia(run=wish.run, key=wish.key, steps=[], items=[])


def _plan(ctx: Context, wish: MediaWish) -> tuple[list[int], int]:
    """The steps by priority, and their total number."""
    found = media(ctx, MediaRequest(runs=[wish.run], key=wish.key, step=None)).steps
    every = sorted(found[0].steps) if found else []
    if not every:
        return [], 0
    first = [
        max((step for step in every if wanted is None or step <= wanted), default=every[0]) for wanted in wish.wanted
    ]
    return list(dict.fromkeys([*first, *_spread(every, wish.steps)]))[: max(wish.steps, len(first))], len(every)


def _spread(steps: list[int], most: int) -> list[int]:
    """The last, the first, the middle, and so on: wherever the budget ends, the included steps are evenly spread."""
    if len(steps) > most:
        steps = [steps[round(at * (len(steps) - 1) / max(1, most - 1))] for at in range(most)]
    order, spans = [len(steps) - 1, 0], [(0, len(steps) - 1)]
    while spans:
        low, high = spans.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            order.append(middle)
            spans += [(low, middle), (middle, high)]
    return [steps[at] for at in dict.fromkeys(order)]


def _carried(ctx: Context, items: list[MediaItem], known: dict[str, str]) -> tuple[dict[str, str], int]:
    """The new bytes of the items, as `data:` URLs, and the resulting total size."""
    found: dict[str, str] = {}
    size = len(msgspec.json.encode(items)) // 3
    for item in items:
        place = _place(item)
        if place is None or place in known or place in found or not _is_carried(item):
            continue
        run, _, sha256 = place.partition("/")
        try:
            data = _bytes(ctx, run, sha256, item)
        except (BadData, NotFound):
            continue
        if len(data) <= LARGEST:
            found[place] = f"data:{item.mime};base64,{base64.b64encode(data).decode()}"
            size += len(data) * 4 // 3
    return found, size


def _is_carried(item: MediaItem) -> bool:
    """What the viewer shows from bytes. Texts are included as text; logged HTML is never executed."""
    return item.mime in SHOWN_MEDIA


def _bytes(ctx: Context, run: str, sha256: str, item: MediaItem) -> bytes:
    from stepscope.views.media.blob import BlobRequest, blob

    found = blob(ctx, BlobRequest(run=run, sha256=sha256))
    if found.body is None:
        raise NotFound(f"{item.key} is too large")
    return found.body


def _told(item: MediaItem, blobs: dict[str, str]) -> MediaItem:
    """The item, with a note if its bytes are not in the file."""
    place = _place(item)
    if place is not None and place not in blobs and item.text is None and item.error is None:
        item.url = None
        if item.kind != "embedding":  # which is included as its projection
            item.error = "Too large for this file." if _is_carried(item) else "Only the app shows this."
    return item


def _place(item: MediaItem) -> str | None:
    url = item.url or ""
    return url.removeprefix("/api/blob/") if url.startswith("/api/blob/") else None


def _name(ctx: Context, run: str) -> str:
    return ctx.catalogue.entry(run).name
