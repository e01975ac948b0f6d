"""A run's non-numeric data."""

from __future__ import annotations

from typing import Annotated

import msgspec
from pydantic import Field

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import block, name
from stepscope.views.charts import MediaItem, MediaRequest
from stepscope.views.media.index import MediaIndexRequest, media_index
from stepscope.views.media.media import media

Key = Annotated[str, Field(description="Empty to list the keys; one of them to see its items.")]
AtStep = Annotated[int | None, Field(description="The step to look at; default: the newest.")]
MOST_KEYS = 100
MOST_ITEMS = 12
MOST_TEXT = 3000


@tool("Media of a run")
def list_media(desk: Desk, run: RunRef = "last", key: Key = "", step: AtStep = None) -> Answer:
    """Images, audio, tables, text and curves that a run logged: the keys with their steps, or one key's items.

    Texts and tables come with their content; images and sound only with their description (the browser shows them).
    """
    folder = desk.open(run)
    if key:
        return _items(desk, folder.id, folder.name, key, step)
    found = media_index(desk.ctx, MediaIndexRequest(runs=[folder.id]))
    if not found.keys:
        return Answer(f"Run {name(folder.name)} logged nothing but numbers.", {"run": folder.id, "keys": []})
    lines = [f"Run {name(folder.name)} ({folder.id}) has {len(found.keys)} keys of media:"]
    for one in found.keys[:MOST_KEYS]:
        many = f", up to {one.most} a step" if one.most > 1 else ""
        lines.append(f"- {name(one.key)}: {one.kind}, steps {one.steps[0]} to {one.steps[-1]} ({len(one.steps)}){many}")
    data = [
        {
            "key": one.key,
            "kind": one.kind,
            "first_step": one.steps[0],
            "last_step": one.steps[-1],
            "steps": len(one.steps),
        }
        for one in found.keys[:MOST_KEYS]
    ]
    return Answer("\n".join(lines), {"run": folder.id, "keys": data})


def _items(desk: Desk, run: str, title: str, key: str, step: int | None) -> Answer:
    found = media(desk.ctx, MediaRequest(runs=[run], key=key, step=step))
    if not found.items:
        at = f" at or before step {step}" if step is not None else ""
        return Answer(f"Run {name(title)} has nothing under {name(key)}{at}.", {"run": run, "items": []})
    lines = [f"Run {name(title)} ({run}), {name(key)} at step {found.items[0].step}, {len(found.items)} items:"]
    lines += [_item(one) for one in found.items[:MOST_ITEMS]]
    data = [
        {"kind": one.kind, "mime": one.mime, "step": one.step, "meta": one.meta, "text": one.text, "error": one.error}
        for one in found.items[:MOST_ITEMS]
    ]
    return Answer("\n".join(lines), {"run": run, "items": data, "steps": msgspec.to_builtins(found.steps)})


def _item(one: MediaItem) -> str:
    about = ", ".join(f"{name(key, 40)}={name(value, 80)}" for key, value in list(one.meta.items())[:12])
    head = f"- {one.kind} ({name(one.mime)}) {about}"
    if one.error:
        return f"{head}: {name(one.error, 300)}"
    if one.histogram is not None:
        edges = one.histogram.edges
        return f"{head}: {len(one.histogram.counts)} bins from {edges[0]:.5g} to {edges[-1]:.5g}"
    return f"{head}\n{block(one.kind, one.text, MOST_TEXT)}" if one.text else head
