"""Values go into JSON and tensors and come back as they were."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from stepscope.launch.capsule.safe_encoding import Missing, Packer, Unpacker

Pair = namedtuple("Pair", "x y")


@dataclass
class Batch:
    images: torch.Tensor
    name: str


class Encoding(dict):  # type: ignore[type-arg]
    """A dict with a class of its own, as tokenizers give."""


def back(value: Any) -> Any:
    packer = Packer()
    packed = json.loads(json.dumps(packer.pack(value, "it")))
    kept = {name: tensor.clone(memory_format=torch.preserve_format) for name, tensor in packer.tensors.items()}
    return Unpacker(lambda name, order: kept[name]).unpack(packed)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -(1 << 80), 0.1, "text", b"\x00\xff", [1, (2, 3)], {"a": 1, 2: "b", (1, 2): 3}, {4, 5},
     torch.float16, torch.device("cpu")],
    ids=str,
)  # fmt: skip
def test_plain_values_come_back(value: Any) -> None:
    assert back(value) == value
    assert type(back(value)) is type(value)


def test_infinities_and_nan_come_back() -> None:
    assert back(float("-inf")) == float("-inf")
    assert back(float("nan")) != back(float("nan"))


def test_tensors_and_arrays_come_back_with_their_type() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    found = back({"x": x, "a": np.arange(3, dtype=np.int16), "s": np.float32(2.5)})
    assert torch.equal(found["x"], x)
    assert found["x"].requires_grad
    assert found["a"].dtype == np.int16
    assert found["s"] == np.float32(2.5)
    assert isinstance(found["s"], np.float32)


def test_one_tensor_seen_twice_is_kept_once_and_stays_one() -> None:
    x = torch.ones(3)
    packer = Packer()
    packer.pack([x, (x,)], "batch")
    assert len(packer.tensors) == 1


def test_objects_come_back_from_classes_that_are_imported() -> None:
    found = back([Pair(1, torch.ones(1)), Batch(torch.zeros(2), "b"), Encoding(ids=torch.ones(2))])
    assert isinstance(found[0], Pair)
    assert isinstance(found[1], Batch)
    assert found[1].name == "b"
    assert isinstance(found[2], Encoding)
    assert torch.equal(found[2]["ids"], torch.ones(2))


def test_what_cannot_be_said_plainly_is_named() -> None:
    packer = Packer()
    packed = packer.pack({"f": print, "m": torch.ones(2).to_sparse()}, "batch")
    assert packer.missing == [
        "batch['f']: a builtins.builtin_function_or_method",
        "batch['m']: a Tensor (torch.sparse_coo)",
    ]
    assert isinstance(Unpacker(lambda name, order: None).unpack(packed)["f"], Missing)


def test_secrets_are_masked_by_the_name_they_stand_under_and_by_shape() -> None:
    packer = Packer()
    packed = packer.pack(
        {
            "apikey_local": "a1b2c3d4e5",
            "text": "login with password=hunter2x9",
            "token": "<pad>",
            "raw": b"pwd=hunter2x9",
        },
        "config",
    )
    assert Unpacker(lambda name, order: None).unpack(packed) == {
        "apikey_local": "***",
        "text": "login with password=***",
        "token": "<pad>",
        "raw": b"pwd=***",
    }
    assert len(packer.missing) == 3
    assert packer.missing[0] == "config['apikey_local']: a secret in it is masked"
