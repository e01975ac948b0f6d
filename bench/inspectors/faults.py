"""Which line do they name? Ten steps that go wrong and two healthy ones, under `trace_values` and `detect_anomaly`.

The line to name ends in `# born`. Where the data or a parameter was bad before the step the right answer says so, or
names the line where it is first used. The two healthy steps must stay silent.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["faults_table"]


def scores() -> Tensor:
    torch.manual_seed(0)
    return nn.Linear(4, 4)(torch.randn(3, 4))


def log_of_zero() -> Tensor:
    kept = scores().relu()
    return kept.log().sum()  # born


def zero_by_zero() -> Tensor:
    rows = scores() * torch.tensor([[1.0], [0.0], [1.0]])
    rows = rows / rows.norm(dim=1, keepdim=True)  # born
    return rows.relu().sum()


def overflow() -> Tensor:
    big = (scores() * 1000).exp()  # born
    return (big / big.sum()).sum()


def fully_masked_row() -> Tensor:
    mask = torch.zeros(3, 4).index_fill(0, torch.tensor(1), -torch.inf)
    weights = (scores() + mask).softmax(dim=1)  # born
    return weights.square().sum()


def mean_of_nothing() -> Tensor:
    made = scores()
    return made.square().mean() + made[made > 100].mean()  # born


def half_overflow() -> Tensor:
    made = scores().half() * 200
    made = made * made * made  # born
    return made.float().mean()


def gradient_of_sqrt_at_zero() -> Tensor:
    kept = scores().relu()
    return kept.sqrt().sum()  # born


def gradient_of_where() -> Tensor:
    made = scores()
    safe = torch.where(made > 0, made.abs().sqrt(), 0 * made)
    roots = (safe * 0).sqrt()  # born
    return torch.where(safe > 0, roots, safe).sum()


BAD_DATA = torch.full((3, 4), torch.nan)
SPOILED = nn.Linear(4, 4)
SPOILED.weight.data[0, 0] = torch.nan


def bad_data() -> Tensor:
    made = nn.Linear(4, 4)(BAD_DATA)  # born
    return made.tanh().square().sum()


def bad_parameter() -> Tensor:
    made = SPOILED(torch.ones(3, 4))  # born
    return made.tanh().square().sum()


def causal_mask() -> Tensor:
    seen = torch.ones(3, 4, dtype=torch.bool).tril()
    return scores().masked_fill(~seen, -torch.inf).softmax(dim=1).square().sum()


def best_so_far() -> Tensor:
    made = scores()
    return F.relu(made).sum() + 0 * torch.maximum(made, torch.full_like(made, -torch.inf)).sum()


BORN = (
    log_of_zero,
    zero_by_zero,
    overflow,
    fully_masked_row,
    mean_of_nothing,
    half_overflow,
    gradient_of_sqrt_at_zero,
    gradient_of_where,
)
OUTSIDE = {bad_data: "input", bad_parameter: "parameter"}
HEALTHY = (causal_mask, best_so_far)

Answer = str | int | None
"""The line, the word for what came from outside, or None: nothing is wrong."""


def truth(fault: Callable[[], Tensor]) -> tuple[Answer, ...]:
    """The answers that are right."""
    if fault in HEALTHY:
        return (None,)
    with open(__file__) as source:
        lines = source.read().splitlines()
    first = fault.__code__.co_firstlineno
    line = next(number for number in range(first, len(lines)) if lines[number - 1].endswith("# born"))
    return (OUTSIDE[fault], line) if fault in OUTSIDE else (line,)


def by_stepscope(fault: Callable[[], Tensor]) -> Answer:
    import stepscope

    with stepscope.trace_values() as tracer:
        fault().backward()
    first = tracer.check().first
    if first is None:
        return None
    return first.kind if first.kind in ("input", "parameter") else first.line


def by_anomaly(fault: Callable[[], Tensor]) -> Answer:
    """The last line of this file in the forward trace of the warning; the error alone names no line of the user's."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with torch.autograd.set_detect_anomaly(True):
                fault().backward()
        except RuntimeError:
            places = re.findall(r"faults\.py\", line (\d+), in (\w+)", "\n".join(str(one.message) for one in said))
            named = [int(line) for line, function in places if function == fault.__name__]
            return named[-1] if named else "an error without a line"
        except Exception:
            return traceback.format_exc().splitlines()[-1]
    return None


def faults_table() -> str:
    """Markdown: a row per fault, what each said, right or wrong."""
    lines = ["| the step | expected | stepscope | detect_anomaly |", "|---|---|---|---|"]
    right = [0, 0]
    every = (*BORN, *OUTSIDE, *HEALTHY)
    for fault in every:
        expected = truth(fault)
        said = by_stepscope(fault), by_anomaly(fault)
        right = [count + (answer in expected) for count, answer in zip(right, said, strict=True)]
        cells = [f"{'right' if answer in expected else 'wrong'}: {answer or 'silent'}" for answer in said]
        lines.append(f"| {fault.__name__.replace('_', ' ')} | {expected[0] or 'silent'} | {' | '.join(cells)} |")
    lines.append(f"| **right** | {len(every)} | **{right[0]}** | **{right[1]}** |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(faults_table())
