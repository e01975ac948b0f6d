"""What is wrong with a run, where, the evidence, and the fix."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Edit", "Finding", "Related", "Severity", "TextChange"]

Severity = Literal["info", "warning", "error"]


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of named fields; unknown fields of a newer writer are ignored."""


class Related(_Record, frozen=True, kw_only=True):
    """Another location that belongs to a finding: where the layer was built, where the graph was cut."""

    file: str
    line: int
    label: str = ""
    source: list[tuple[int, str]] = []
    """Its line and the one before, numbered."""


class TextChange(_Record, frozen=True, kw_only=True):
    """Whole lines of one file, replaced by others. Empty `old` inserts before `line`."""

    file: str
    line: int
    """The first replaced line, counted from 1."""
    old: list[str] = []
    """The original lines, without line breaks."""
    new: list[str] = []
    sha256: str = ""
    """Hash of the file's text when the finding was made, with `\\n` line endings."""


class Edit(_Record, frozen=True, kw_only=True):
    """A fix as a text change. Its changes are applied together or not at all."""

    changes: list[TextChange] = []
    label: str = ""
    """What it tries, if several edits are worth a trial: `lr=0.001`."""


class Finding(_Record, frozen=True, kw_only=True):
    """Something wrong with a run: the location of its cause, the evidence, and the fix."""

    rule: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    evidence: dict[str, Any] = {}
    fix: str = ""
    step: int | None = None
    column: int | None = None
    """Of the expression on `line`, counted from 0; `end_column` is after its last character."""
    end_column: int | None = None
    label: str = ""
    """The evidence in a few words, printed below the expression."""
    function: str = ""
    related: list[Related] = []
    source: list[tuple[int, str]] = []
    """The numbered lines around `line` when it was found, so that it can be read without the file."""
    source_changed: bool = False
    """The file was edited after the script started: these may not be the lines that ran."""
    edits: list[Edit] = []
    """The fix as text. A single one is certain; of several, only a trial tells which is right (a learning rate)."""
