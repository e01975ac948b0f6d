"""Search over all runs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from pydantic import Field

from stepscope.agents.tool import Answer, Limit, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name
from stepscope.errors import UsageError
from stepscope.views.search import SearchRequest, search as search_view

Text = Annotated[str, Field(description="Words; a match contains all of them.")]
Project = Annotated[str, Field(description="Only in this project; empty for all.")]


@tool("Search")
def search(desk: Desk, text: Text, project: Project = "", limit: Limit = 8) -> Answer:
    """Find runs, metrics, findings, printed lines, errors, artifacts and reports that contain all the words."""
    if not text.strip():
        raise UsageError("there is nothing to search for; give one word or more")
    found = search_view(desk.ctx, SearchRequest(text=text, project=project, limit=limit, deep=True))
    lines = []
    for group in found.groups:
        lines.append(f"{group.kind}: {group.count} found")
        for hit in group.hits:
            where = f", run {hit.run}" if hit.run else ""
            key = f", key {name(hit.key)}" if hit.key else ""
            lines.append(f"- {name(hit.title, 240)} ({name(hit.detail, 240)}{where}{key})")
    if found.unread:
        lines.append(f"{found.unread} runs are not read yet; ask again to continue with them.")
    return Answer("\n".join(lines) or f"Nothing contains {name(text)}.", msgspec.to_builtins(found))
