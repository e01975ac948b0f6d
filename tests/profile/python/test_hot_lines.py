"""Samples become the user's own lines: the phase of the step each is in, and the library it had called."""

from __future__ import annotations

import json.decoder
import os
import threading
from types import CodeType

import torch

from stepscope.profile.python.hot_lines import hot_spots
from stepscope.profile.python.samples import Samples


def code(file: str, name: str) -> CodeType:
    inner: CodeType = compile(f"def {name}():\n    return 1", file, "exec").co_consts[0]
    return inner


TORCH = os.path.dirname(torch.__file__)
TRAIN = code("/home/me/train.py", "train")
DATASET = code("/home/me/train.py", "read")
FETCH = code(f"{TORCH}/utils/data/_utils/fetch.py", "fetch")
MODULE = code(f"{TORCH}/nn/modules/module.py", "_call_impl")
DECODE = code(json.decoder.__file__, "decode")


def seen(*stacks: tuple[int, tuple[CodeType, ...]]) -> Samples:
    samples = Samples()
    for nanoseconds, codes in stacks:
        key: list[int] = [threading.main_thread().ident or 0]
        for one in codes:
            samples.codes[id(one)] = one
            key += [id(one), 0]
        samples.time_ns[tuple(key)] = nanoseconds
    return samples


def test_a_stack_counts_for_the_innermost_own_line() -> None:
    samples = seen((60, (DECODE, TRAIN)), (30, (DECODE, DATASET, FETCH, TRAIN)), (10, (MODULE, TRAIN)))
    first, second = hot_spots(samples)
    assert (first.function, round(first.share, 2), first.phase) == ("train", 0.7, "other")
    assert first.below.endswith("json.decoder.decode")
    assert (second.function, second.share, second.phase) == ("read", 0.3, "data")


def test_small_parts_and_other_threads_are_left_out() -> None:
    samples = seen((99, (TRAIN,)), (1, (DATASET,)))
    samples.time_ns[(1, id(DECODE), 0)] = 500
    samples.codes[id(DECODE)] = DECODE
    assert [(one.function, one.below) for one in hot_spots(samples)] == [("train", "")]
