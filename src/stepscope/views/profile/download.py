"""A profile, or one of its tables, as a file for other tools."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Literal

import msgspec

from stepscope.errors import BadData, NotFound
from stepscope.files.opening import read_file
from stepscope.profile.profile import LARGEST_PART
from stepscope.runs.format.ids import is_run_id
from stepscope.views.context import Context
from stepscope.views.profile.open_profiles import FROM_DATA, Failed, OpenProfile, profile_of
from stepscope.views.route import Download, route

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_ENDINGS = {"chrome": "json.gz", "speedscope": "speedscope.json", "prof": "prof"}


class ProfileDownloadRequest(msgspec.Struct):
    run: str
    profile: str
    kind: Literal["csv", "tables", "chrome", "speedscope", "prof"]
    """csv: one table · tables: all of them, zipped · chrome: the timeline, for Perfetto · speedscope: the Python call
    tree · prof: cProfile's statistics."""
    analysis: str = ""
    """The analysis whose table to download, for csv."""
    rank: int | None = None


@route("GET", "/api/profile/download/{run}/{profile}/{kind}")
def profile_download(ctx: Context, request: ProfileDownloadRequest) -> Download:
    """The file, as a download."""
    if not is_run_id(request.run):
        raise NotFound("there is no such run; reload the page")
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    name = _NOT_IN_NAMES.sub("-", f"{ctx.runs.get(request.run).name}-{request.profile}").strip("-.") or "profile"
    if rank:
        name += f"-rank{rank}"
    try:
        return _download(opened, request, rank, name)
    except FROM_DATA as fault:
        raise BadData(f"the profile cannot be written as {request.kind} ({type(fault).__name__}: {fault})") from fault


def _download(opened: OpenProfile, request: ProfileDownloadRequest, rank: int, name: str) -> Download:
    kind = request.kind
    if kind == "csv":
        return Download(
            "text/csv", body=_table(opened, request.analysis, rank), filename=f"{name}-{request.analysis}.csv"
        )
    if kind == "tables":
        return Download("application/zip", body=_tables(opened, rank), filename=f"{name}.zip")
    if kind == "chrome" and (recorded := _recorded_trace(opened, rank)) is not None:
        ending = "json.gz" if recorded.name.endswith(".gz") else "json"
        return Download("application/octet-stream", path=recorded, filename=f"{name}.{ending}")
    return Download("application/octet-stream", body=_exported(opened, kind, rank), filename=f"{name}.{_ENDINGS[kind]}")


def _table(opened: OpenProfile, analysis: str, rank: int) -> bytes:
    from stepscope.profile.export.sheets import sheet_csv

    answer = opened.answer(analysis, rank)
    if isinstance(answer, Failed):
        raise BadData(answer.why)
    if answer is None:
        raise NotFound(f"{analysis} has no data for this profile; choose another table")
    return sheet_csv(answer)


def _tables(opened: OpenProfile, rank: int) -> bytes:
    from stepscope.profile.analyses.analysis import all_analyses
    from stepscope.profile.export.sheets import sheet_csv

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for id in all_analyses():
            answer = opened.answer(id, rank)
            if answer is not None and not isinstance(answer, Failed):
                archive.writestr(f"{id}.csv", sheet_csv(answer))
    return out.getvalue()


def _recorded_trace(opened: OpenProfile, rank: int) -> Path | None:
    """The original torch.profiler file, if it was stored and no other data was merged into it."""
    traces, tables = opened.profile.files("trace", rank), opened.profile.files("events", rank)
    alone = all(file.name == f"rank{rank}.events" for file in tables)
    path = opened.profile.path(traces[0]) if len(traces) == 1 and alone else None
    return path if path is not None and path.is_file() else None


def _exported(opened: OpenProfile, kind: str, rank: int) -> bytes:
    from stepscope.profile.export.export import export

    with tempfile.TemporaryDirectory() as folder:
        with opened.alone():
            [path] = export(opened.profile, kind, Path(folder) / f"profile.{_ENDINGS[kind]}", rank)
        return read_file(path, LARGEST_PART, within=Path(folder))
