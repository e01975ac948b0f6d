"""The command that starts a script again as another rank, and the note for it, which `rank_entry` reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import fence

if TYPE_CHECKING:
    from stepscope.launch.child_processes import Note

NOTE = "note"


def command_of(command: list[str], folder: str) -> list[str]:
    """The command of a rank, led through `rank_entry`.

    >>> command_of(["python", "train.py", "--lr", "1"], "/tmp/notes")
    ['python', '-m', 'stepscope.launch.rank_entry', '/tmp/notes', 'train.py', '--lr', '1']
    """
    return [command[0], "-m", "stepscope.launch.rank_entry", folder, *command[1:]]


@fence.fenced("leaving a note for the other ranks")
def leave_note(folder: str, note: Note) -> bool:
    """Write down what the other ranks need to know; whether it is there."""
    import pickle  # only here: a script's own module of this name must stay findable

    with open(os.path.join(folder, NOTE), "wb") as file:
        pickle.dump(note, file)
    return True


@fence.fenced("reading the note of the first rank")
def read_note(folder: str) -> Note | None:
    """What the first rank wrote, into a folder that only its user can write to."""
    import pickle

    from stepscope.record.observers.ranks import is_private

    if not is_private(Path(folder)):
        return None
    with open(os.path.join(folder, NOTE), "rb") as file:
        note: Note = pickle.load(file)
    return note
