"""Tags, notes and names; only with --allow-edit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name
from stepscope.errors import Forbidden
from stepscope.views.edit import EditRequest, edit

Tags = Annotated[list[str] | None, Field(description="Tags; default: none.")]
Notes = Annotated[str | None, Field(description="The run's new notes; default: unchanged.")]
NewName = Annotated[str | None, Field(description="The run's new name; default: unchanged.")]


@tool("Edit a run", edits=True)
def edit_run(
    desk: Desk,
    run: RunRef,
    add_tags: Tags = None,
    remove_tags: Tags = None,
    notes: Notes = None,
    new_name: NewName = None,
) -> Answer:
    """Change a run's tags, notes or name. The numbers of a run can never be changed."""
    id = desk.id_of(run)
    done = edit(
        desk.ctx,
        EditRequest(runs=[id], add_tags=add_tags or [], remove_tags=remove_tags or [], notes=notes, name=new_name),
    )
    if done.refused:
        raise Forbidden(f"the run was not changed: {done.refused[0].reason}")
    folder = desk.open(id)
    tags = ", ".join(name(tag) for tag in folder.tags) or "none"
    return Answer(
        f"Run {name(folder.name)} ({id}) is changed; tags: {tags}.",
        {"run": id, "name": folder.name, "tags": folder.tags, "notes": folder.notes},
    )
