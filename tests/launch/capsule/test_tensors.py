"""Every dtype and layout comes back from the file bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from stepscope.launch.capsule.tensors import KINDS, memory_order, open_tensors, read_tensor, write_tensors


@pytest.mark.parametrize("dtype", list(KINDS), ids=str)
def test_every_dtype_comes_back(dtype: torch.dtype, tmp_path: Path) -> None:
    raw = torch.arange(96, dtype=torch.uint8)
    tensor = (raw % 2).bool() if dtype is torch.bool else raw.view(dtype)
    path = tmp_path / "t"
    write_tensors(path, {"a": tensor, "empty": tensor[:0], "b": tensor.reshape(2, -1)})
    stored = open_tensors(path)
    for name, wanted in (("a", tensor), ("empty", tensor[:0]), ("b", tensor.reshape(2, -1))):
        found = read_tensor(stored[name], None)
        assert found.dtype == dtype
        assert found.shape == wanted.shape
        assert torch.equal(found.view(torch.uint8), wanted.contiguous().view(torch.uint8))


def test_channels_last_comes_back_channels_last(tmp_path: Path) -> None:
    image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    write_tensors(tmp_path / "t", {"image": image})
    found = read_tensor(open_tensors(tmp_path / "t")["image"], memory_order(image))
    assert found.stride() == image.stride()
    assert torch.equal(found, image)


def test_slices_and_expanded_tensors_are_written_whole(tmp_path: Path) -> None:
    base = torch.randn(4, 6)
    some = {"slice": base[:, ::2], "expanded": base[:1].expand(3, 6), "t": base.t()}
    write_tensors(tmp_path / "t", some)
    stored = open_tensors(tmp_path / "t")
    for name, tensor in some.items():
        assert torch.equal(read_tensor(stored[name], memory_order(tensor)), tensor)
