"""The PNG writer: what Pillow reads back is exactly what went in."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image as pillow

from stepscope.track.media.png import apng, png

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (7, 1), (5, 3), (33, 64)])
def test_every_pixel_comes_back(channels: int, size: tuple[int, int]) -> None:
    noise = RNG.integers(0, 256, (*size, channels), dtype=np.uint8)
    ramp = np.arange(noise.size, dtype=np.uint8).reshape(noise.shape)
    for pixels in (noise, ramp, np.zeros_like(noise), np.full_like(noise, 255)):
        image = pillow.open(io.BytesIO(png(pixels)))
        assert image.mode == {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[channels]
        np.testing.assert_array_equal(np.asarray(image).reshape(pixels.shape), pixels)


def test_each_filter_is_used_where_it_helps() -> None:
    across = np.tile(np.arange(200, dtype=np.uint8), (50, 1))[..., None]
    down = np.tile(np.arange(200, dtype=np.uint8)[:, None], (1, 50))[..., None]
    both = (across[:50, :50] + down[:50, :50]).astype(np.uint8)
    for smooth in (across, down, both):
        assert len(png(smooth)) < smooth.size / 8
        np.testing.assert_array_equal(np.asarray(pillow.open(io.BytesIO(png(smooth)))), smooth[..., 0])


def test_a_large_photo_like_image_is_about_as_small_as_pillows() -> None:
    y, x = np.mgrid[0:600, 0:1200]
    waves = np.stack([np.sin(x / 90 + c) + np.cos(y / 70 * (c + 1)) for c in range(3)], axis=-1)
    pixels = ((waves + 2) / 4 * 250 + RNG.integers(0, 4, waves.shape)).astype(np.uint8)
    theirs = io.BytesIO()
    pillow.fromarray(pixels).save(theirs, "PNG")
    assert len(png(pixels)) < 1.25 * len(theirs.getvalue())


def test_strided_views_are_read_in_order() -> None:
    whole = RNG.integers(0, 256, (20, 20, 3), dtype=np.uint8)
    view = whole[::2, ::-1]
    np.testing.assert_array_equal(np.asarray(pillow.open(io.BytesIO(png(view)))), view)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_every_frame_of_an_animation_comes_back(channels: int) -> None:
    frames = list(RNG.integers(0, 256, (6, 9, 11, channels), dtype=np.uint8))
    image = pillow.open(io.BytesIO(apng(frames, fps=25)))
    assert (image.n_frames, image.info["loop"]) == (6, 0)
    for number, frame in enumerate(frames):
        image.seek(number)
        mode = {1: "L", 3: "RGB", 4: "RGBA"}[channels]
        np.testing.assert_array_equal(np.asarray(image.convert(mode)).reshape(frame.shape), frame)
        assert image.info["duration"] == 40
