"""The files inside one version of an artifact: listed by folder, previewed, downloaded singly or as a zip.

No path from a run is ever used on the reader's machine: a file is found by its index in the artifact's own list, and
its bytes by their hash.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stepscope.errors import BadData, Forbidden, NotFound, StepscopeError, UsageError
from stepscope.files.opening import open_file, read_window
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.artifacts import check_inner_path
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.files.zip import zip_pieces
from stepscope.views.route import Download, route

MAX_LISTED = 1000
MAX_PREVIEW = 1 << 20
"""Maximum bytes of text in a preview."""
MAX_IMAGE = 32 << 20
MAX_CHECKED = 256 << 20
"""Larger files are streamed without first being verified against their hash."""

_IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def version_of(folder: RunFolder, name: str, version: int) -> Artifact:
    """The newest artifact with this name and version."""
    named = [one for one in folder.artifacts if one.name == name]
    found = [one for one in named if one.version == version]
    if not found:
        known = ", ".join(f"v{number}" for number in sorted({one.version for one in named})[-20:])
        has = f"has no version {version}; it has {known}" if named else "is not one of this run's"
        raise NotFound(f"the artifact {name[:100]!r} {has}")
    return found[-1]


class ArtifactRequest(msgspec.Struct):
    run: str
    name: str
    version: int
    folder: str = ""
    """The folder inside the artifact, without a trailing slash; "" for its root."""
    search: str = ""
    """Instead: files in any folder whose path contains this."""


class ArtifactEntry(msgspec.Struct, omit_defaults=True):
    """A file, or a folder with everything below it."""

    name: str
    path: str
    size: int
    folder: bool = False
    files: int = 1
    mime: str = ""
    sha256: str = ""
    reference: str | None = None
    """The location of a file that was only referenced."""
    problem: str = ""
    """Why its content is missing."""


class ArtifactListing(msgspec.Struct):
    entries: list[ArtifactEntry]
    """Folders first."""
    omitted: int = 0


@route("POST", "/api/artifact")
def artifact(ctx: Context, request: ArtifactRequest) -> ArtifactListing:
    """The contents of one folder of an artifact, or the matches of a search in all of them."""
    run = ctx.runs.get(request.run)
    files = version_of(run, request.name, request.version).files
    wanted = request.search.strip().lower()
    if wanted:
        folders: list[ArtifactEntry] = []
        found = sorted((file for file in files if wanted in file.path.lower()), key=lambda file: file.path)
    else:
        folders, found = _inside(files, request.folder)
    listed = [_entry(run, file, file.path if wanted else file.path.rpartition("/")[2]) for file in found[:MAX_LISTED]]
    entries = [*folders, *listed][:MAX_LISTED]
    return ArtifactListing(entries=entries, omitted=len(folders) + len(found) - len(entries))


def _inside(files: list[ArtifactFile], folder: str) -> tuple[list[ArtifactEntry], list[ArtifactFile]]:
    prefix = f"{folder}/" if folder else ""
    folders: dict[str, ArtifactEntry] = {}
    inside: list[ArtifactFile] = []
    for file in files:
        if not file.path.startswith(prefix):
            continue
        name, slash, _rest = file.path[len(prefix) :].partition("/")
        if not slash:
            inside.append(file)
            continue
        one = folders.get(name)
        if one is None:
            folders[name] = ArtifactEntry(name=name, path=prefix + name, size=file.size, folder=True)
        else:
            one.size += file.size
            one.files += 1
    return [folders[name] for name in sorted(folders)], sorted(inside, key=lambda file: file.path)


def _entry(run: RunFolder, file: ArtifactFile, name: str) -> ArtifactEntry:
    return ArtifactEntry(
        name=name,
        path=file.path,
        size=file.size,
        mime=file.mime,
        sha256=file.sha256,
        reference=file.reference,
        problem=_problem(run, file),
    )


def _problem(run: RunFolder, file: ArtifactFile) -> str:
    """Why a file's content is unavailable, from a quick check; "" if all seems well."""
    if file.reference is not None:
        return ""
    try:
        size = run.blob_path(file.sha256).stat().st_size
    except NotFound as fault:
        return f"not in the run folder: {str(fault).partition('; ')[2]}"
    except (StepscopeError, OSError) as fault:
        return str(fault)
    return "" if size == file.size else f"damaged: it has {size:,} bytes instead of {file.size:,}"


class ArtifactPreviewRequest(msgspec.Struct):
    run: str
    name: str
    version: int
    path: str


class ArtifactPreview(msgspec.Struct):
    """A safe preview of a file."""

    kind: Literal["text", "json", "csv", "markdown", "image", "binary", "reference", "problem"]
    text: str = ""
    cut: bool = False
    """The preview is truncated."""
    note: str = ""
    """Why there is no preview, or what the file is."""


@route("POST", "/api/artifact/preview")
def artifact_preview(ctx: Context, request: ArtifactPreviewRequest) -> ArtifactPreview:
    """The beginning of a text, or that it is an image; never anything a browser would execute."""
    run = ctx.runs.get(request.run)
    file = _file(version_of(run, request.name, request.version), request.path)
    if file.reference is not None:
        return ArtifactPreview(
            "reference", text=file.reference, note="Only a reference was stored; the file was not copied."
        )
    try:
        data = _start(run, file)
    except (NotFound, BadData, Forbidden) as fault:
        return ArtifactPreview("problem", note=str(fault))
    if _image_kind(data) is not None:
        if file.size > MAX_IMAGE:
            return ArtifactPreview(
                "binary", note=f"An image of {file.size:,} bytes; the maximum for a preview is {MAX_IMAGE:,}."
            )
        return ArtifactPreview("image")
    text = _as_text(data[:MAX_PREVIEW])
    if text is None:
        return ArtifactPreview("binary", text=data[:512].hex(), note="Not text; these are its first bytes.")
    return ArtifactPreview(_text_kind(file.path), text=text, cut=file.size > MAX_PREVIEW)


def _file(one: Artifact, path: str) -> ArtifactFile:
    for file in one.files:
        if file.path == path:
            return file
    raise NotFound(f"version {one.version} of {one.name!r} has no file {path[:200]!r}; reload the page")


def _start(run: RunFolder, file: ArtifactFile) -> bytes:
    """The first bytes of a file; all of them, verified, if it is not huge."""
    problem = _problem(run, file)
    if problem:
        raise BadData(problem)
    if file.size <= MAX_IMAGE:
        return run.media_bytes(file.sha256)
    with open_file(run.blob_path(file.sha256), within=run.path) as stream:
        return read_window(stream, 0, MAX_PREVIEW)


def _as_text(data: bytes) -> str | None:
    if b"\0" in data[:8192]:
        return None
    text = data.decode("utf-8", "replace")
    odd = sum(letter == "\ufffd" for letter in text[:8192])
    return None if odd > 8 and odd > len(text[:8192]) / 50 else text


def _text_kind(path: str) -> Literal["text", "json", "csv", "markdown"]:
    ending = path.rpartition(".")[2].lower()
    kinds: dict[str, Literal["json", "csv", "markdown"]] = {
        "json": "json",
        "csv": "csv",
        "tsv": "csv",
        "md": "markdown",
        "markdown": "markdown",
    }
    return kinds.get(ending, "text")


def _image_kind(data: bytes) -> str | None:
    """From its first bytes, not its name: the declared type must match the content."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for sign, mime in _IMAGES if data.startswith(sign)), None)


class ArtifactFileRequest(msgspec.Struct):
    run: str
    name: str
    version: int
    path: str
    show: bool = False
    """For an image on the page; otherwise the browser saves it."""


@route("GET", "/api/artifact/file")
def artifact_file(ctx: Context, request: ArtifactFileRequest) -> Download:
    """One file of an artifact."""
    run = ctx.runs.get(request.run)
    file = _file(version_of(run, request.name, request.version), request.path)
    if file.reference is not None:
        raise NotFound(f"{file.path!r} was not copied into the run; it is at {file.reference}")
    if problem := _problem(run, file):
        raise BadData(f"{file.path!r} cannot be sent: {problem}")
    name = file.path.replace("\\", "/").rpartition("/")[2]
    if file.size > MAX_CHECKED:
        path = run.blob_path(file.sha256)
        if not path.resolve().is_relative_to(run.path.resolve()):
            raise Forbidden(f"the content of {file.path!r} is outside the run's folder, so it is not sent")
        return Download("application/octet-stream", path=path, filename=name)
    data = run.media_bytes(file.sha256)
    mime = _image_kind(data) if request.show else None
    if request.show and mime is None:
        raise UsageError(f"{file.path!r} is not an image that can be shown; download it instead")
    return Download(mime or "application/octet-stream", body=data, filename=None if mime else name)


class ArtifactZipRequest(msgspec.Struct):
    run: str
    name: str
    version: int


@route("GET", "/api/artifact/zip")
def artifact_zip(ctx: Context, request: ArtifactZipRequest) -> Download:
    """All files of a version in one archive, built while it is sent."""
    run = ctx.runs.get(request.run)
    one = version_of(run, request.name, request.version)
    for file in one.files:
        try:
            check_inner_path(file.path)
        except UsageError as fault:
            raise BadData(f"the artifact {one.name!r} has an unsafe record: {fault}") from None
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in one.name)[:80].strip(".-")
    return Download("application/zip", pieces=zip_pieces(run, one), filename=f"{safe or 'artifact'}-v{one.version}.zip")
