"""Products of vectors and matrices. The bias costs nothing extra: the accumulator starts from it."""

from __future__ import annotations

import math
from typing import Any

from stepscope.record.flops.registry import Called, Work, backward_of_products, formula

__all__: list[str] = []


def product(macs: int, *operands: Any) -> Work:
    return Work(2 * macs, macs, backward_of_products(macs, *operands))


@formula("linear")
def linear(called: Called) -> Work:
    x, weight = called.get(0, "input"), called.get(1, "weight")
    return product(math.prod(x.shape[:-1]) * weight.numel(), x, weight)


@formula("matmul", "mm", "bmm", "_int_mm", "_scaled_mm", "_sparse_mm", "hspmm", "spmm", "smm", "linalg_matmul")
def matmul(called: Called) -> Work:
    a, b = called.get(0, "input"), called.get(1, "other", called.kwargs.get("mat2"))
    return product(called.out.numel() * a.shape[-1], a, b)


@formula("mv", "dot", "vdot", "inner", "linalg_vecdot")
def inner(called: Called) -> Work:
    a, b = called.get(0, "input"), called.get(1, "other", called.kwargs.get("vec", called.kwargs.get("tensor")))
    return product(called.out.numel() * a.shape[-1], a, b)


@formula("addmm", "addmv", "addbmm", "baddbmm", "sspaddmm", "_addmm_activation")
def addmm(called: Called) -> Work:
    a = called.get(1, "mat1", called.kwargs.get("batch1", called.kwargs.get("mat")))
    b = called.get(2, "mat2", called.kwargs.get("batch2", called.kwargs.get("vec")))
    depth = a.shape[-1] * (a.shape[0] if called.name.startswith("addbmm") else 1)
    return product(called.out.numel() * depth, a, b)


@formula("outer", "ger", "addr", "kron")
def outer(called: Called) -> Work:
    work = int(called.out.numel())
    return Work(2 * work if called.name.startswith("addr") else work, 0, 4 * work)


@formula("bilinear")
def bilinear(called: Called) -> Work:
    """`x1 @ W @ x2` for each output feature: the first product dominates, the second has one row."""
    x1, x2, weight = called.get(0, "input1"), called.get(1, "input2"), called.get(2, "weight")
    rows = math.prod(x1.shape[:-1])
    return product(rows * (weight.numel() + weight.shape[0] * weight.shape[2]), x1, x2, weight)


@formula("cdist", "_cdist_forward", "pairwise_distance")
def cdist(called: Called) -> Work:
    """A difference, a square and a sum for each coordinate of each pair."""
    return Work(3 * called.out.numel() * called.first.shape[-1], 0, None)


@formula("tensordot")
def tensordot(called: Called) -> Work | None:
    a, b, dims = called.get(0, "a"), called.get(1, "b"), called.get(2, "dims", 2)
    if isinstance(dims, int):
        summed = math.prod(a.shape[a.dim() - dims :])
    elif isinstance(dims, (list, tuple)) and len(dims) == 2:
        first = dims[0] if isinstance(dims[0], (list, tuple)) else [dims[0]]
        summed = math.prod(a.shape[i] for i in first)
    else:
        return None
    return product(called.out.numel() * summed, a, b)


@formula("einsum")
def einsum(called: Called) -> Work | None:
    """Contracted from left to right, as torch does without opt_einsum; each index is summed as soon as it can be."""
    equation = called.first
    operands = list(called.args[1:]) or list(called.kwargs.get("operands", ()))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not isinstance(equation, str):
        return None  # the sublist form: einsum(a, [0, 1], b, [1, 2])
    terms, result = _terms(equation, [t.dim() for t in operands])
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        for letter, size in zip(term, operand.shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    macs = flops = 0
    have = set(terms[0])
    for place, term in enumerate(terms[1:], start=1):
        together = have | set(term)
        later = set(result).union(*terms[place + 1 :])
        work = math.prod(sizes[letter] for letter in together)
        if together <= later:  # nothing is summed: an outer or elementwise product
            flops += work
        else:
            macs += work
        have = together & later
    if len(terms) == 1:
        flops = operands[0].numel() if set(terms[0]) - set(result) else 0
    needing = sum(1 for t in operands if t.requires_grad)
    return Work(2 * macs + flops, macs, (2 * macs + flops) * needing)


def _terms(equation: str, dims: list[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with `...` spelled out in digits of its own."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    longest = max((d - len(t.replace("...", "")) for t, d in zip(terms, dims, strict=True) if "..." in t), default=0)
    dots = "".join(chr(0x100 + i) for i in range(longest))
    spelled = []
    for term, dim in zip(terms, dims, strict=True):
        width = dim - len(term.replace("...", ""))
        spelled.append(term.replace("...", dots[len(dots) - width :]))
    if arrow:
        return spelled, right.replace("...", dots)
    once = sorted(letter for letter in set(left) if letter.isalpha() and left.count(letter) == 1)
    return spelled, dots + "".join(once)
