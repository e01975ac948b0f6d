"""Errors and warnings of torch that say what is wrong by themselves: what they mean, and what to do."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ERRORS", "WARNINGS", "Known", "known"]


class Known(NamedTuple):
    """A message of torch, as a pattern, and what a person should do about it."""

    pattern: re.Pattern[str]
    meaning: str
    fix: str


def known(text: str, table: tuple[Known, ...]) -> Known | None:
    """The first entry that fits a message."""
    return next((one for one in table if one.pattern.search(text)), None)


def _known(pattern: str, meaning: str, fix: str) -> Known:
    return Known(re.compile(pattern, re.I), meaning, fix)


ERRORS = (
    _known(
        r"out of memory",
        "the device ran out of memory",
        "make the batch smaller, use autocast or checkpointing, and keep no graph alive in lists of losses",
    ),
    _known(
        r"shapes cannot be multiplied|size mismatch|must match the size of tensor|Expected .*input.* channels",
        "two tensors do not fit",
        "print the shapes on this line; `stepscope run` shows the tensors of every frame",
    ),
    _known(
        r"Expected all tensors to be on the same device|found at least two devices",
        "tensors on different devices meet",
        "move the one that was left behind with `.to(device)`",
    ),
    _known(
        r"expected (?:m1 and m2 to have the same dtype|scalar type)|same dtype",
        "tensors of different types meet",
        "convert one of them, or run this line under autocast",
    ),
    _known(
        r"device-side assert|Target \d+ is out of bounds|index out of range in self",
        "an index or a label is out of range",
        "compare the largest label or token id with the number of classes or embeddings",
    ),
    _known(
        r"DataLoader worker .* (?:is killed|exited unexpectedly)",
        "a DataLoader worker died",
        "try `num_workers=0` to see its error; if it was killed, use less memory or raise the size of /dev/shm",
    ),
    _known(
        r"one of the variables needed for gradient computation has been modified by an inplace operation",
        "a tensor that backward needs was changed in place",
        "replace the in-place operation (`+=`, `relu_`, an index assignment) by one that makes a new tensor",
    ),
    _known(
        r"Trying to backward through the graph a second time",
        "a graph was used by two backwards",
        "compute the loss again for each backward, and detach what is carried over from step to step",
    ),
    _known(
        r"does not require grad and does not have a grad_fn",
        "the loss does not depend on any weight",
        "look for `.detach()`, `.item()`, `no_grad` or `argmax` between the model and the loss",
    ),
    _known(
        r"NCCL|Watchdog caught collective operation timeout",
        "a rank did not take part in a collective",
        "look at the first rank that failed; all ranks must make the same calls in the same order",
    ),
)

WARNINGS = (
    _known(
        r"lr_scheduler\.step\(\)` before `optimizer\.step",
        "the scheduler steps before the optimizer",
        "call `optimizer.step()` first: otherwise the first value of the schedule is skipped",
    ),
    _known(
        r"Using a target size .* that is different to the input size",
        "input and target of a loss have different shapes, so they are broadcast against each other",
        "make both the same shape, for example with `.squeeze(1)` or `.unsqueeze(1)`",
    ),
    _known(
        r"None of the inputs have requires_grad=True",
        "a checkpointed part gets no gradient",
        "pass `use_reentrant=False` to `checkpoint`",
    ),
    _known(
        r"Implicit dimension choice for (?:log_)?softmax",
        "softmax guesses its axis",
        "say which one: `softmax(x, dim=-1)`",
    ),
    _known(
        r"The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed",
        "the gradient of a tensor that keeps none is read",
        "call `retain_grad()` on it before backward",
    ),
    _known(
        r"Was asked to gather along dimension 0, but all input tensors were scalars",
        "DataParallel returns one loss per GPU",
        "average it: `loss.mean().backward()`",
    ),
    _known(
        r"To copy construct from a tensor, it is recommended to use",
        "`torch.tensor(x)` copies a tensor and cuts its gradient",
        "use `x.clone()` to keep the gradient, or `x.detach().clone()` to say that you do not want it",
    ),
    _known(
        r"Seems like `optimizer\.step\(\)` has been overridden after learning rate scheduler",
        "the scheduler was made before the optimizer was wrapped",
        "make the scheduler after whatever wraps the optimizer",
    ),
)
