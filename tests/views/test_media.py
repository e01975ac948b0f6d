"""Images, text and histograms at a step, and their bytes."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Artifact, ArtifactFile, Media
from stepscope.runs.format.layout import BLOBS
from stepscope.runs.write.writer import RunWriter
from stepscope.views.charts import HistogramsRequest, MediaRequest, PanelsRequest, panels
from stepscope.views.context import Context
from stepscope.views.distributions.histograms import histograms
from stepscope.views.media.blob import BlobRequest, blob
from stepscope.views.media.media import media

from .conftest import histogram, write_run


def png(width: int, height: int = 1) -> bytes:
    """A real image of `width` noisy pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    noise = hashlib.shake_256(b"seed").digest(width * height)
    rows = b"".join(b"\0" + noise[row * width : (row + 1) * width] for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def image(step: int, index: int = 0, count: int = 1) -> Media:
    return Media(key="recon", step=step, time=float(step), kind="image", mime="image/png", index=index, count=count)


def test_each_run_answers_with_its_newest_at_or_before_the_step(ctx: Context, store: Path) -> None:
    one = write_run(store, media=[(image(step), png(8)) for step in (0, 10, 20)])
    two = write_run(store, media=[(image(5), png(8))])
    answer = media(ctx, MediaRequest(runs=[one, two], key="recon", step=12))
    assert [(item.run, item.step) for item in answer.items] == [(one, 10), (two, 5)]
    assert [(entry.run, entry.steps) for entry in answer.steps] == [(one, [0, 10, 20]), (two, [5])]
    assert [item.step for item in media(ctx, MediaRequest(runs=[one, two], key="recon")).items] == [20, 5]
    assert media(ctx, MediaRequest(runs=[one], key="recon", step=-1)).items == []
    assert [(panel.key, panel.kind) for panel in panels(ctx, PanelsRequest(runs=[one])).panels] == [("recon", "image")]


def test_a_list_of_images_comes_in_order(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[(image(0, index, 3), png(8)) for index in (2, 0, 1)])
    assert [item.index for item in media(ctx, MediaRequest(runs=[run], key="recon")).items] == [0, 1, 2]


@pytest.mark.parametrize(("size", "start"), [((8, 1), "data:image/png;base64,"), ((64, 64), "/api/blob/")])
def test_bytes_are_beside_or_in_the_address(ctx: Context, store: Path, size: tuple[int, int], start: str) -> None:
    data = png(*size)
    run = write_run(store, media=[(image(0), data)])
    [item] = media(ctx, MediaRequest(runs=[run], key="recon")).items
    assert item.url is not None
    assert item.url.startswith(start)
    found = blob(ctx, BlobRequest(run=run, sha256=hashlib.sha256(data).hexdigest()))
    assert (found.body, found.mime, found.filename, found.immutable) == (data, "image/png", None, True)


def test_text_comes_with_the_answer(ctx: Context, store: Path) -> None:
    note = Media(key="note", step=0, time=0.0, kind="text", mime="text/plain", meta={"format": "markdown"})
    run = write_run(store, media=[(note, "<script>alert(1)</script> é".encode())])
    [item] = media(ctx, MediaRequest(runs=[run], key="note")).items
    assert item.text == "<script>alert(1)</script> é"


def test_a_histogram_comes_as_numbers_and_over_time_on_common_edges(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[histogram("w", 0, [0, 1, 2], [1, 1]), histogram("w", 5, [0, 2, 4], [2, 2])])
    [item] = media(ctx, MediaRequest(runs=[run], key="w")).items
    assert item.histogram is not None
    assert (item.step, item.histogram.edges, item.histogram.counts) == (5, [0, 2, 4], [2, 2])
    over_time = histograms(ctx, HistogramsRequest(run=run, key="w", bins=4))
    assert (over_time.steps, over_time.edges) == ([0, 5], [0, 1, 2, 3, 4])
    assert over_time.counts == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert [row[4] for row in over_time.percentiles] == [1.0, 2.0]


def test_many_histograms_are_thinned_with_both_ends(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[histogram("w", step, [0, 1], [1]) for step in range(100)])
    found = histograms(ctx, HistogramsRequest(run=run, key="w", rows=5))
    assert found.steps == [0, 25, 50, 74, 99]
    with pytest.raises(UsageError, match="rows must be 1 to 1000"):
        histograms(ctx, HistogramsRequest(run=run, key="w", rows=10**6))
    with pytest.raises(NotFound, match="no histograms under 'x'"):
        histograms(ctx, HistogramsRequest(run=run, key="x"))


def test_a_damaged_histogram_is_said_not_raised(ctx: Context, store: Path) -> None:
    broken = Media(key="w", step=1, time=0.0, kind="histogram")
    run = write_run(store, media=[histogram("w", 0, [0, 1], [1]), (broken, b"not eight bytes each")])
    [item] = media(ctx, MediaRequest(runs=[run], key="w")).items
    assert "are not a histogram" in (item.error or "")
    assert histograms(ctx, HistogramsRequest(run=run, key="w")).steps == [0]


def test_an_artifact_file_is_streamed_under_its_name(ctx: Context, store: Path, tmp_path: Path) -> None:
    run = write_run(store)
    weights = tmp_path / "w.bin"
    weights.write_bytes(b"\0" * (17 << 20))
    writer = RunWriter(store / run, run_id=run, role="worker", heartbeat_s=0, fsync_s=0)
    sha256, size = writer.blob_file(weights)
    files = [ArtifactFile(path="best/weights.bin", sha256=sha256, size=size)]
    writer.event(Artifact(time=1.0, name="model", version=1, digest="d", files=files))
    writer.close()
    found = blob(ctx, BlobRequest(run=run, sha256=sha256))
    assert (found.path, found.filename) == (store / run / BLOBS / sha256, "weights.bin")


def test_a_link_among_the_blobs_leads_nowhere(ctx: Context, store: Path) -> None:
    data = png(2000, 1000)
    run = write_run(store, media=[(image(0), data)])
    sha256 = hashlib.sha256(data).hexdigest()
    path = store / run / BLOBS / sha256
    path.unlink()
    path.symlink_to("/etc/passwd")
    with pytest.raises(NotFound, match="is a symbolic link"):
        blob(ctx, BlobRequest(run=run, sha256=sha256))


@pytest.mark.parametrize("sha256", ["", "a" * 63, "A" * 64, "../" * 22, "a" * 64 + "\n"])
def test_what_is_no_hash_is_not_found(ctx: Context, store: Path, sha256: str) -> None:
    with pytest.raises(NotFound):
        blob(ctx, BlobRequest(run=write_run(store), sha256=sha256))


def test_bytes_that_no_record_speaks_of_are_not_given_out(ctx: Context, store: Path) -> None:
    run = write_run(store)
    data = b"left by somebody"
    sha256 = hashlib.sha256(data).hexdigest()
    (store / run / BLOBS).mkdir()
    (store / run / BLOBS / sha256).write_bytes(data)
    with pytest.raises(NotFound, match="has logged nothing with the hash"):
        blob(ctx, BlobRequest(run=run, sha256=sha256))


def bomb(width: int, height: int) -> bytes:
    """A whole, small PNG that says it is huge."""
    data = png(8)
    return data[:16] + struct.pack(">II", width, height) + data[24:]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "are not those of an image"),
        (b"<script>alert(1)</script>", "are not those of an image"),
        (b"RIFF\0\0\0\0WAVEfmt ", "are not those of an image"),
        (bomb(60_000, 60_000), r"claims to have 60,000 x 60,000 pixels"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is damaged"),
        (png(8)[:50], "is truncated"),
    ],
    ids=["svg", "html", "sound", "bomb", "header", "cut"],
)
@pytest.mark.parametrize("padding", [0, 70_000])
def test_what_is_no_image_is_not_given_as_one(ctx: Context, store: Path, data: bytes, words: str, padding: int) -> None:
    """Small ones stand in the answer, larger ones beside it: neither reaches the browser's decoder."""
    whole = data + b"\0" * padding
    run = write_run(store, media=[(image(0), whole)])
    [item] = media(ctx, MediaRequest(runs=[run], key="recon")).items
    if padding == 0:
        assert item.url is None
        assert re.search(words, item.error or "")
    asked = BlobRequest(run=run, sha256=hashlib.sha256(whole).hexdigest())
    with pytest.raises(BadData, match=words):
        blob(ctx, asked)
    saved = blob(ctx, BlobRequest(run=run, sha256=asked.sha256, save=True))
    assert (saved.body, saved.filename) == (whole, "recon-0")
