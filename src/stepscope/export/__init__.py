"""Export a run's series: CSV, JSON, JSON Lines, Parquet. docs/commands/export.md is the manual."""

from __future__ import annotations

from stepscope.export.run import FORMATS, Format, Layout, export_chunks, export_run

__all__ = ["FORMATS", "Format", "Layout", "export_chunks", "export_run"]
