"""What the checks of bench/gpu_record.py share: where they run, how they are found, how steps are timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from inspectors.nets import GPT, Case, make_case, text_case

__all__ = ["CHECKS", "Lab", "check", "interleaved"]

Check = Callable[["Lab"], Iterator[tuple[bool, str]]]
"""Yields what it found: whether that is right, and in words."""

CHECKS: list[tuple[Check, bool]] = []
"""With whether it needs a GPU."""


class Lab:
    """Where the checks run."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.cuda = device == "cuda"

    def wait(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def gpt(self) -> Case:
        """GPT-2 small with 8 x 512 tokens."""
        torch.manual_seed(0)
        return text_case(GPT(), 8, 512, self.device) if self.cuda else make_case("gpt2", quick=True)

    def autocast(self):
        return torch.autocast("cuda", torch.bfloat16) if self.cuda else nullcontext()


def check(needs_cuda: bool = False) -> Callable[[Check], Check]:
    def keep(function: Check) -> Check:
        CHECKS.append((function, needs_cuda))
        return function

    return keep


def block_ms(lab: Lab, step: Callable[[], object], count: int, within: AbstractContextManager) -> float:
    """Milliseconds a step, over `count` steps, the device waited for at both ends."""
    lab.wait()
    started = time.perf_counter()
    with within:
        for _ in range(count):
            step()
    lab.wait()
    return (time.perf_counter() - started) / count * 1000


def interleaved(
    lab: Lab, step: Callable[[], object], within: Callable[[], AbstractContextManager], blocks: int, count: int
) -> tuple[float, float, float]:
    """Median milliseconds a step without and within, and the median ratio of neighbouring blocks."""
    plain, watched = [], []
    for turn in range(blocks):
        for times, around in ((plain, nullcontext), (watched, within))[:: 1 if turn % 2 else -1]:
            times.append(block_ms(lab, step, count, around()))
    ratio = statistics.median(b / a for a, b in zip(plain, watched, strict=True))
    return statistics.median(plain), statistics.median(watched), ratio
