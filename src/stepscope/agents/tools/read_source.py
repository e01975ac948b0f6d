"""The source that ran."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepscope.agents.recorded_source import lines_of, source_file, source_files
from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import code, name

Path = Annotated[str, Field(description="A file as findings name it, `train.py`; empty to list what there is.")]
Line = Annotated[int | None, Field(ge=1, description="The line to show; default: the beginning.")]
Around = Annotated[int, Field(ge=0, le=100, description="How many lines before and after it.")]


@tool("Source of a run")
def read_source(desk: Desk, run: RunRef = "last", path: Path = "", line: Line = None, around: Around = 20) -> Answer:
    """The source as it was when the run ran, around a line. The file on disk may have been edited since.

    Only recorded source can be read: files of a saved step are complete, of others only lines near findings.
    """
    folder = desk.open(run)
    files = source_files(folder)
    if not path and len(files) > 1:
        rows = [
            f"- {name(key, 300)}: {'whole' if one.is_whole else f'{len(one.lines)} lines'}"
            for key, one in files.items()
        ]
        return Answer("\n".join([f"Run {name(folder.name)} has the source of:", *rows[:100]]), {"files": list(files)})
    source = source_file(folder, path)
    lines = lines_of(folder, source)
    at = line if line is not None else around + 1
    near = [(number, text) for number, text in lines.items() if abs(number - at) <= around]
    kept = "whole" if source.is_whole else "only the lines near findings are known"
    head = f"{name(source.path, 300)} of run {name(folder.name)} ({folder.id}), {len(lines)} lines ({kept})."
    if not near:
        known = f"{min(lines)} to {max(lines)}" if lines else "none"
        return Answer(f"{head} Line {at} is not among them; known: {known}.", {"path": source.path, "lines": []})
    data = {"path": source.path, "whole": source.is_whole, "lines": [[number, text] for number, text in near]}
    return Answer(f"{head}\n{code(near, line)}", data)
