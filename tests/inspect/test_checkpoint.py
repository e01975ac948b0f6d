from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from stepscope.errors import BadData, NotFound
from stepscope.inspect.checkpoint import read_checkpoint
from stepscope.inspect.tensor_values import decode_float8, stats_of


def write_safetensors(path: Path, header: Any, data: bytes) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def test_a_nested_checkpoint_is_listed_with_its_facts(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    path = tmp_path / "last.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    found = read_checkpoint(path)
    named = {tensor.name: tensor for tensor in found.tensors}
    assert named["model.0.weight"].shape == (2, 3)
    assert "optimizer.state.0.exp_avg" in named
    assert found.facts["epoch"] == 3
    assert found.facts["optimizer.param_groups.0.lr"] == 0.001
    assert "epoch = 3" in str(found)


def test_statistics_agree_with_torch_over_several_pieces(tmp_path: Path) -> None:
    values = torch.randn(1_500_000, generator=torch.Generator().manual_seed(0))
    values[:3] = torch.tensor([float("nan"), float("inf"), -float("inf")])
    values[3:7] = 0
    torch.save(values, tmp_path / "one.pt")
    stats = read_checkpoint(tmp_path / "one.pt").tensors[0].stats
    assert stats is not None
    finite = values[3:].double()
    assert (stats.nan, stats.pos_inf, stats.neg_inf, stats.zeros, stats.numel) == (1, 1, 1, 4, 1_500_000)
    expected = [finite.mean(), finite.std(correction=0), finite.norm(), finite.min(), finite.max()]
    found = [stats.mean, stats.std, stats.norm, stats.min, stats.max]
    assert found == pytest.approx([float(one) for one in expected])


def test_bad_values_are_pointed_at(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(2), "b": torch.tensor([1.0, float("nan")])}, tmp_path / "x.pt")
    assert "NOT FINITE: b" in str(read_checkpoint(tmp_path / "x.pt"))


def test_tied_weights_count_once(tmp_path: Path) -> None:
    shared = torch.ones(4, 4)
    torch.save({"embed": shared, "head": shared}, tmp_path / "x.pt")
    table = read_checkpoint(tmp_path / "x.pt").table
    assert table.totals["params"] == 16
    assert table.rows[1].mark == "same as embed"


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(2, dtype=torch.bfloat16),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(2, dtype=torch.bool),
        torch.empty(0),
        torch.tensor(3),
        torch.eye(3).to_sparse(),
        torch.arange(6).reshape(2, 3).t(),
    ],
)
def test_every_kind_of_tensor_is_read(tmp_path: Path, tensor: torch.Tensor) -> None:
    torch.save(tensor, tmp_path / "x.pt")
    found = read_checkpoint(tmp_path / "x.pt").tensors[0]
    assert found.shape == tuple(tensor.shape)
    assert found.stats is not None


def test_a_pickle_that_wants_to_run_code_is_refused_and_not_run(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"model": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(BadData, match=r"was rejected: .* would run its code. If you trust the file"):
        read_checkpoint(tmp_path / "evil.pt")
    assert not (tmp_path / "ran").exists()
    torch.save(nn.Linear(2, 2), tmp_path / "whole.pt")
    with pytest.raises(BadData, match=r"wants to import torch\.nn\.modules\.linear\.Linear"):
        read_checkpoint(tmp_path / "whole.pt")


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "text"])
def test_damaged_files_say_so(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "x.pt"
    torch.save({"a": torch.randn(1000)}, path)
    raw = path.read_bytes()
    path.write_bytes({"cut": raw[:500], "noise": b"\x93" * 400, "empty": b"", "text": b"hello\n"}[damage])
    with pytest.raises(BadData):
        read_checkpoint(path)


def test_missing_files_and_folders_say_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        read_checkpoint(tmp_path / "none.pt")
    with pytest.raises(NotFound, match="is a folder"):
        read_checkpoint(tmp_path)


def test_old_checkpoints_are_read_too(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(3)}, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert read_checkpoint(tmp_path / "old.pth").tensors[0].stats.mean == 1.0  # type: ignore[union-attr]


def test_safetensors_are_read_without_torch(tmp_path: Path) -> None:
    halves = np.array([1.0, 2.0, -3.0], dtype=np.float32)
    brain = (halves.view(np.uint32) >> 16).astype("<u2").tobytes()
    data = halves.tobytes() + brain + b"\x38\x40"
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
        "b": {"dtype": "BF16", "shape": [3], "data_offsets": [12, 18]},
        "c": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [18, 20]},
    }
    path = write_safetensors(tmp_path / "m.safetensors", header, data)
    code = (
        f"import sys; from stepscope.inspect.checkpoint import read_checkpoint; c = read_checkpoint({str(path)!r});"
        "print('torch' in sys.modules, [(t.dtype, t.stats.mean, t.stats.min) for t in c.tensors], c.facts)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = [("float32", 0.0, -3.0), ("bfloat16", 0.0, -3.0), ("float8_e4m3fn", 1.5, 1.0)]
    assert out.stdout.strip() == f"False {expected} {{'format': 'pt'}}"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}, "outside the file's 8 bytes"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, "needs 12 bytes, has 8"),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]}}, "not whole numbers"),
        ({"a": {"dtype": "F32", "shape": [2]}}, "lacks dtype, shape or data_offsets"),
        (b'{"a": 1, "a": 2}', "names 'a' twice"),
        (b"{not json", "is not valid JSON"),
        (
            {k: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} for k in "ab"},
            "overlap",
        ),
        ([1, 2], "expected an object"),
    ],
)
def test_a_safetensors_header_that_lies_is_refused(tmp_path: Path, header: Any, words: str) -> None:
    path = write_safetensors(tmp_path / "m.safetensors", header, b"\0" * 8)
    with pytest.raises(BadData) as error:
        read_checkpoint(path)
    assert words in str(error.value)


def test_a_safetensors_length_beyond_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(BadData, match="truncated or not a safetensors"):
        read_checkpoint(path)


@pytest.mark.parametrize(("bits", "dtype"), [(4, torch.float8_e4m3fn), (5, torch.float8_e5m2)])
def test_eight_bit_floats_decode_as_torch_does(bits: int, dtype: torch.dtype) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    np.testing.assert_array_equal(decode_float8(bits)(codes.numpy()), codes.view(dtype).float().numpy())


def test_nothing_finite_gives_counts_alone() -> None:
    stats = stats_of(iter([np.array([np.nan, np.inf])]))
    assert (stats.nan, stats.pos_inf, stats.mean) == (1, 1, None)


def test_a_damaged_file_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    whole = tmp_path / "whole.pt"
    torch.save(nn.Linear(3, 3).state_dict(), whole)
    for name, content, words in (
        ("half.pt", whole.read_bytes()[:700], "is truncated or damaged"),
        ("empty.pt", b"", "is empty"),
        ("notes.pt", b"hello\nthere\n" * 20, "is not a torch checkpoint"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadData, match=f"{name} {words}"):
            read_checkpoint(tmp_path / name)


def test_a_list_of_numbers_is_one_fact_and_the_files_own_facts_come_first(tmp_path: Path) -> None:
    held = {
        "optimizer": {"groups": [{"betas": (0.9, 0.999), "params": list(range(10))}]},
        "w": torch.ones(1),
        "epoch": 3,
    }
    torch.save(held, tmp_path / "a.pt")
    found = read_checkpoint(tmp_path / "a.pt")
    assert str(found).startswith(f"{tmp_path / 'a.pt'}: 1 tensor, 4 B")
    assert found.table.notes == [
        "also: epoch = 3; optimizer.groups.0.betas = [0.9, 0.999]; "
        "optimizer.groups.0.params = [0, 1, 2, 3, 4, 5, ... 4 more]"
    ]
