"""Images: shapes, types and ranges, each with the exact pixels it must become."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
import torch
from PIL import Image as pillow

from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.track.media import Image

RNG = np.random.default_rng(1)
RGB = RNG.integers(0, 256, (5, 7, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (5, 7), dtype=np.uint8)


def encoded(image: Image) -> tuple[Media, np.ndarray]:
    [(record, data)] = image.encode("key", 3, 12.5)
    assert data is not None
    assert (record.key, record.step, record.time, record.kind) == ("key", 3, 12.5, "image")
    decoded = np.asarray(pillow.open(io.BytesIO(data)))
    assert decoded.shape[:2] == (record.meta["height"], record.meta["width"])
    return record, decoded


@pytest.mark.parametrize(
    ("data", "layout", "expected"),
    [
        (GREY, "HW", GREY),
        (RGB, "HWC", RGB),
        (RGB.transpose(2, 0, 1), "CHW", RGB),
        (GREY[None], "CHW", GREY),
        (GREY[..., None], "HWC", GREY),
        (torch.from_numpy(RGB.copy()), "HWC", RGB),
        (torch.from_numpy(RGB.transpose(2, 0, 1).copy()), "CHW", RGB),
        (GREY.tolist(), "HW", GREY),
        (RGB.tolist(), "HWC", RGB),
    ],
)
def test_axes_are_told_by_the_shape(data: Any, layout: str, expected: np.ndarray) -> None:
    record, decoded = encoded(Image(data))
    assert record.meta["layout"] == layout
    np.testing.assert_array_equal(decoded, expected)


def test_an_ambiguous_shape_is_chw_for_tensors_and_hwc_for_arrays_unless_told() -> None:
    cube = RNG.integers(0, 256, (3, 4, 3), dtype=np.uint8)
    as_hwc, as_chw = cube, cube.transpose(1, 2, 0)
    np.testing.assert_array_equal(encoded(Image(cube))[1], as_hwc)
    np.testing.assert_array_equal(encoded(Image(torch.from_numpy(cube)))[1], as_chw)
    np.testing.assert_array_equal(encoded(Image(cube, layout="CHW"))[1], as_chw)
    np.testing.assert_array_equal(encoded(Image(torch.from_numpy(cube), layout="HWC"))[1], as_hwc)


@pytest.mark.parametrize(
    ("values", "levels", "scaled"),
    [
        (np.array([[0.0, 0.5, 1.0]]), [0, 128, 255], None),
        (np.array([[0.0, 0.5, 1.0]], np.float32), [0, 128, 255], None),
        (np.array([[0.25, 0.25]], np.float16), [64, 64], None),
        (np.array([[-0.001, 1.001]]), [0, 255], None),
        (np.array([[-1.0, 0.0, 1.0]]), [0, 128, 255], [-1, 1]),
        (np.array([[0.0, 100.0, 200.0]]), [0, 128, 255], [0, 200]),
        (np.array([[7.0, 7.0]]), [0, 0], [7, 7]),
        (np.array([[-1e308, 0.0, 1e308]]), [0, 128, 255], [-1e308, 1e308]),
        (np.array([[True, False]]), [255, 0], None),
        (np.array([[3, 200]], np.int64), [3, 200], None),
        (np.array([[0, 65535]], np.uint16), [0, 255], [0, 65535]),
        (np.array([[-5, 5]], np.int8), [0, 255], [-5, 5]),
        (np.array([[2**62, 0]], np.int64), [255, 0], [0, 2**62]),
    ],
)
def test_values_become_levels_and_scaling_is_told(values: np.ndarray, levels: list[int], scaled: Any) -> None:
    record, decoded = encoded(Image(values))
    assert decoded.tolist() == [levels]
    assert record.meta.get("scaled") == scaled


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.float8_e4m3fn])
def test_tensors_of_every_float_type(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[0.0, 0.5, 1.0]]).to(dtype)
    assert encoded(Image(tensor))[1].tolist() == [[0, 128, 255]]


def test_a_tensor_that_needs_gradients_and_keeps_its_graph_untouched() -> None:
    leaf = torch.rand(3, 4, 4, requires_grad=True)
    image = (leaf * 1.0).clamp(0, 1)
    before = image._version
    encoded(Image(image))
    assert image._version == before
    image.sum().backward()
    assert leaf.grad is not None


def test_a_fixed_range_clips_and_is_told() -> None:
    record, decoded = encoded(Image(np.array([[-2.0, 0.0, 1.0]]), value_range=(-1, 1)))
    assert decoded.tolist() == [[0, 128, 255]]
    assert record.meta["value_range"] == [-1, 1]


def test_nan_is_magenta_and_counted_and_infinities_take_the_ends() -> None:
    values = np.array([[0.0, np.nan, 1.0], [np.inf, -np.inf, 0.5]])
    record, decoded = encoded(Image(values))
    assert decoded[0].tolist() == [[0, 0, 0], [255, 0, 255], [255, 255, 255]]
    assert decoded[1].tolist() == [[255, 255, 255], [0, 0, 0], [128, 128, 128]]
    assert (record.meta["nan"], record.meta["pos_inf"], record.meta["neg_inf"]) == (1, 1, 1)
    assert record.meta["mode"] == "RGB"


def test_an_image_of_nothing_but_nan() -> None:
    record, decoded = encoded(Image(np.full((2, 2, 4), np.nan)))
    assert decoded.reshape(-1, 4).tolist() == [[255, 0, 255, 255]] * 4
    assert record.meta["nan"] == 4


def test_opencvs_channel_order() -> None:
    np.testing.assert_array_equal(encoded(Image(RGB[..., ::-1], mode="BGR"))[1], RGB)


def test_later_changes_do_not_show() -> None:
    array, tensor, nested = RGB.copy(), torch.zeros(4, 4), [[0, 0], [0, 0]]
    images = [Image(array), Image(tensor), Image(nested)]
    array[:] = 0
    tensor += 1
    nested[0][0] = 255
    np.testing.assert_array_equal(encoded(images[0])[1], RGB)
    assert encoded(images[1])[1].max() == 0
    assert encoded(images[2])[1].max() == 0


def test_a_batch_is_a_grid() -> None:
    batch = RNG.integers(0, 256, (5, 3, 4, 6), dtype=np.uint8)
    record, decoded = encoded(Image(torch.from_numpy(batch), columns=2))
    assert (record.meta["rows"], record.meta["columns"], record.meta["images"]) == (3, 2, 5)
    assert decoded.shape == (3 * 6 + 2, 2 * 8 + 2, 3)
    np.testing.assert_array_equal(decoded[2:6, 10:16], batch[1].transpose(1, 2, 0))
    np.testing.assert_array_equal(decoded[14:18, 2:8], batch[4].transpose(1, 2, 0))


def test_a_batch_of_one_is_that_image() -> None:
    np.testing.assert_array_equal(encoded(Image(RGB[None]))[1], RGB)


def test_a_batch_shares_one_range() -> None:
    batch = np.zeros((2, 1, 2, 2), np.float32)
    batch[0], batch[1] = -1, 3
    record, _ = encoded(Image(batch))
    assert record.meta["scaled"] == [-1, 3]


def test_a_large_batch_is_cut_and_says_of_how_many() -> None:
    record, _ = encoded(Image(np.zeros((100, 2, 2, 3), np.uint8)))
    assert (record.meta["images"], record.meta["of"]) == (64, 100)
    assert encoded(Image(np.zeros((100, 2, 2, 3), np.uint8), max_images=100))[0].meta["images"] == 100


def test_a_batch_can_stay_separate_images() -> None:
    batch = RNG.integers(0, 256, (3, 4, 6, 3), dtype=np.uint8)
    records = Image(batch, grid=False, caption="c").encode("k", 0, 0.0)
    assert [(r.index, r.count, r.meta["caption"]) for r, _ in records] == [(0, 3, "c"), (1, 3, "c"), (2, 3, "c")]
    for (_, data), image in zip(records, batch, strict=True):
        assert data is not None
        np.testing.assert_array_equal(np.asarray(pillow.open(io.BytesIO(data))), image)


def test_a_stack_of_grey_images_is_a_grid_when_asked() -> None:
    stack = RNG.integers(0, 256, (9, 8, 8), dtype=np.uint8)
    for image in (Image(stack, grid=True), Image(stack, layout="NHW")):
        record, decoded = encoded(image)
        assert record.meta["rows"] == 3
        np.testing.assert_array_equal(decoded[12:20, 12:20], stack[4])


def test_a_list_mixes_sizes_and_colours() -> None:
    record, decoded = encoded(Image([GREY, torch.from_numpy(RGB.copy()), pillow.fromarray(RGB[:3]).convert("RGBA")]))
    assert (record.meta["images"], record.meta["mode"]) == (3, "RGBA")
    np.testing.assert_array_equal(decoded[2:7, 2:9, 0], GREY)
    np.testing.assert_array_equal(decoded[2:7, 11:18, :3], RGB)
    assert decoded[0, 0, 3] == 0


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I;16", "F", "PA"])
def test_every_pil_mode_looks_as_it_does_in_pillow(mode: str) -> None:
    source = pillow.fromarray(RGB)
    image = source.convert("L").convert("I;16") if mode == "I;16" else source.convert(mode)
    _, decoded = encoded(Image(image))
    if mode == "I;16":
        expected = np.array(source.convert("L"))
    elif mode == "F":
        values = np.array(image)
        expected = np.rint((values - values.min()) / (values.max() - values.min()) * 255).astype(np.uint8)
    elif mode in ("L", "LA", "RGB", "RGBA"):
        expected = np.array(image)
    elif mode == "1":
        expected = np.array(image.convert("L"))
    else:
        expected = np.array(image.convert("RGBA" if mode == "PA" else "RGB"))
    np.testing.assert_array_equal(decoded, expected)


@pytest.mark.parametrize(
    ("format", "mime"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_a_file_is_kept_as_it_is_whatever_its_name(tmp_path: Path, format: str, mime: str) -> None:
    path = tmp_path / "picture.txt"
    pillow.fromarray(RGB).save(path, format)
    for given in (path, str(path)):
        [(record, data)] = Image(given, caption="kept").encode("k", 0, 0.0)
        assert data == path.read_bytes()
        assert record.mime == mime
        assert record.meta == {"width": 7, "height": 5, "caption": "kept"}


def test_a_lossless_webp_and_a_progressive_jpeg_give_their_size(tmp_path: Path) -> None:
    big = pillow.fromarray(RNG.integers(0, 256, (300, 500, 4), dtype=np.uint8))
    big.save(tmp_path / "a", "WEBP", lossless=True)
    big.convert("RGB").save(tmp_path / "b", "JPEG", progressive=True, comment="x" * 5000)
    for name in "ab":
        assert Image(tmp_path / name).encode("k", 0, 0.0)[0][0].meta == {"width": 500, "height": 300}


def test_a_png_that_claims_to_be_huge_is_refused_without_decoding(tmp_path: Path) -> None:
    header = struct.pack(">II", 100_000, 100_000) + b"\x08\x02\x00\x00\x00"
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + header + b"\0" * 4)
    with pytest.raises(UsageError, match="100,000 x 100,000 pixels is larger"):
        Image(tmp_path / "bomb.png").encode("k", 0, 0.0)


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\x00\x00", b"RIFF1234WEBP"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.png"):
        Image(tmp_path / "x.png").encode("k", 0, 0.0)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.zeros((0, 5)), {}, "5 x 0 pixels is empty"),
        (np.zeros((3, 0, 0)), {}, "empty"),
        (np.zeros((0, 3, 4, 4)), {}, "has no image"),
        (np.zeros(5), {}, "1 axes; expected 2"),
        (np.zeros((1, 1, 1, 1, 1)), {}, "5 axes"),
        (np.float32(3), {}, "0 axes"),
        (np.zeros((8, 9, 7)), {}, "no axis of 1 or 3 or 4 channels; give layout='NHW'"),
        (np.zeros((2, 9, 9)), {"layout": "CHW"}, "has 2 channels"),
        (np.zeros((9, 9)), {"layout": "CHW"}, "2 axes, but layout='CHW' names 3"),
        (np.zeros((9, 9)), {"layout": "WHC"}, "layout 'WHC' is not known"),
        (np.zeros((9, 9)), {"mode": "CMYK"}, "mode 'CMYK' is not known"),
        (np.zeros((9, 9)), {"mode": "RGB"}, "means 3 channels"),
        (np.zeros((9, 9)), {"value_range": (1, 1)}, "must be finite and increasing"),
        (np.zeros((9, 9)), {"value_range": 3}, "must be two numbers"),
        (np.zeros((4, 9, 9, 3)), {"columns": 0}, "columns=0"),
        (np.zeros((4, 9, 9, 3)), {"max_images": 1.5}, "max_images=1.5"),
        (np.zeros((9, 9), complex), {}, "complex"),
        (torch.zeros(9, 9, dtype=torch.complex64), {}, "complex"),
        (torch.zeros(9, 9, device="meta"), {}, "'meta' device"),
        (np.array([["a"]]), {}, "give numbers"),
        ([[1, 2], [3]], {}, "cannot be made from a list"),
        (None, {}, "cannot be made from None"),
        ({"a": 1}, {}, "cannot be made from a dict"),
        ("no/such/file.png", {}, "'no/such/file.png' is missing"),
        (Path("."), {}, "is a folder"),
        (["a.png"], {}, "not files"),
        (np.broadcast_to(np.uint8(0), (20_000, 20_000)), {}, "20,000 x 20,000 pixels is larger"),
    ],
)
def test_what_cannot_be_an_image_is_refused_when_made(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        Image(data, **options).encode("k", 0, 0.0)


def test_encoding_twice_gives_the_same_bytes() -> None:
    image = Image(torch.rand(2, 3, 8, 8, dtype=torch.bfloat16))
    assert image.encode("k", 0, 0.0) == image.encode("k", 0, 0.0)
