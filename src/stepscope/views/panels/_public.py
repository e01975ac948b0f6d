"""What a shared file may reveal about paths: the name of a source file, but not its folder."""

from __future__ import annotations

from msgspec.structs import replace

from stepscope.views.findings import ShownFinding


def short_place(place: str) -> str:
    """A path inside the script's folder is shown relative to it; of any other file only the name is.

    >>> short_place("/home/ada/x.py:3"), short_place("pkg/x.py:3")
    ('x.py:3', 'pkg/x.py:3')
    """
    outside = place.startswith(("/", "\\", "~", "..")) or place[1:3] in (":\\", ":/")
    return place.replace("\\", "/").rpartition("/")[2] if outside else place


def short_places(one: ShownFinding) -> ShownFinding:
    """A finding with its paths shortened that way."""
    related = [replace(other, place=short_place(other.place)) for other in one.related]
    return replace(one, place=short_place(one.place), related=related)
