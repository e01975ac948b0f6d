"""What all ranks must agree on in a collective call."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from stepscope.record.observers.collective_calls import described, shape_to_compare

T = torch.zeros(3, 2)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "said"),
    [
        ("broadcast", (T, 1), {}, "broadcast(src=1)"),
        ("broadcast", (T,), {"src": 0}, "broadcast(src=0)"),
        ("broadcast", (T,), {"group_src": 2}, "broadcast(src=2)"),
        ("gather", (T, None, 1), {}, "gather(dst=1)"),
        ("all_reduce", (T,), {}, "all_reduce"),
        ("all_reduce", (T, dist.ReduceOp.MAX), {}, "all_reduce(op=MAX)"),
        ("reduce", (T, 0), {"op": dist.ReduceOp.MIN}, "reduce(dst=0, op=MIN)"),
        ("barrier", (), {}, "barrier"),
    ],
)
def test_arguments_that_must_agree_are_part_of_the_call(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    assert described(name, args, kwargs) == said


def test_all_gather_compares_shapes_unless_every_rank_has_its_own() -> None:
    same = ([T, T], T)
    own_sizes = ([T, torch.zeros(5, 2)], T)
    assert shape_to_compare("all_gather", same, {}, [T]) == (3, 2)
    assert shape_to_compare("all_gather", (), {"tensor_list": [T, T], "tensor": T}, [T]) == (3, 2)
    assert shape_to_compare("all_gather", own_sizes, {}, [T]) == ()
