"""Video: every frame comes back, files stay as they are."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image as pillow

from stepscope.errors import UsageError
from stepscope.track.media import Video

CLIP = np.random.default_rng(3).integers(0, 256, (4, 6, 8, 3), dtype=np.uint8)


def frames(video: Video) -> tuple[Any, np.ndarray]:
    [(record, data)] = video.encode("k", 0, 0.0)
    assert record.kind == "video"
    assert data is not None
    image = pillow.open(io.BytesIO(data))
    out = []
    for number in range(image.n_frames):
        image.seek(number)
        out.append(np.asarray(image.convert("RGB")))
    return record, np.stack(out)


@pytest.mark.parametrize(
    "clip",
    [
        CLIP,
        CLIP.transpose(0, 3, 1, 2),
        torch.from_numpy(CLIP.transpose(0, 3, 1, 2).copy()),
        torch.from_numpy(CLIP.transpose(0, 3, 1, 2).copy()) / 255,
        list(CLIP),
        [torch.from_numpy(frame.transpose(2, 0, 1).copy()) for frame in CLIP],
        [pillow.fromarray(frame) for frame in CLIP],
    ],
)
def test_frames_in_every_form(clip: Any) -> None:
    record, decoded = frames(Video(clip, fps=20, caption="c"))
    np.testing.assert_array_equal(decoded, CLIP)
    assert record.mime == "image/apng"
    assert record.meta == {"frames": 4, "fps": 20, "width": 8, "height": 6, "caption": "c"}


def test_grey_frames_share_one_range() -> None:
    clip = np.zeros((2, 3, 3), np.float32)
    clip[1] = 10
    record, decoded = frames(Video(clip))
    assert (decoded[0].max(), decoded[1].min(), record.meta["scaled"]) == (0, 255, [0, 10])


def test_a_gif_when_asked() -> None:
    clip = np.zeros((3, 5, 5, 3), np.uint8)
    clip[1, ..., 0] = 255
    record, decoded = frames(Video(clip, fps=10, format="gif"))
    assert record.mime == "image/gif"
    np.testing.assert_array_equal(decoded, clip)


def test_later_changes_do_not_show() -> None:
    clip = CLIP.copy()
    video = Video(clip)
    clip[:] = 0
    np.testing.assert_array_equal(frames(video)[1], CLIP)


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"\x1aE\xdf\xa3....", "video/webm"),
        (b"GIF89a\x04\0\x03\0", "image/gif"),
    ],
)
def test_files_are_kept_as_they_are(tmp_path: Path, head: bytes, mime: str) -> None:
    path = tmp_path / "clip.bin"
    path.write_bytes(head + b"rest")
    [(record, data)] = Video(path).encode("k", 0, 0.0)
    assert (record.mime, data) == (mime, head + b"rest")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (CLIP, {"fps": 0}, "fps=0"),
        (CLIP, {"fps": float("nan")}, "fps=nan"),
        (CLIP, {"format": "avi"}, "'apng' or 'gif'"),
        (CLIP, {"layout": "CTHW"}, "layout 'CTHW'"),
        (CLIP, {"layout": "THW"}, "4 axes, but layout='THW' names 3"),
        (CLIP[None], {}, "5 axes"),
        (CLIP[:0], {}, "no frames"),
        ([], {}, "no frames"),
        ([CLIP[0], CLIP[0][:2]], {}, "one shape"),
        (np.zeros((3, 9, 9, 7)), {}, "no axis of"),
        (np.broadcast_to(np.uint8(0), (2000, 500, 500)), {}, "2000 frames, in all"),
        ("nothing.mp4", {}, "is missing"),
        (__file__, {}, "unknown type"),
    ],
)
def test_what_is_wrong_is_said(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Video(data, **options).encode("k", 0, 0.0)
