from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_STEPS = (
    "matmul",
    "bmm",
    "softmax",
    "masked_fill",
    "masked_fill_",
    "div",
    "mul",
    "add",
    "dropout",
    "where",
    "transpose",
)


@rule("perf.attention-by-hand", needs="profile")
def attention_by_hand(run: Measured) -> Iterator[Tip]:
    """Attention is written out as matmul, softmax, matmul.

    Why it matters: the whole matrix of scores is written to memory and read again several times, forward and
    backward. The fused form never keeps it: it is faster and needs far less memory.

    What to do: `F.scaled_dot_product_attention(q, k, v, attn_mask=..., dropout_p=..., is_causal=...)`.

    How it is found: a product's result, scaled or masked, went through a softmax into another product. The
    saving is a third of these calls, forward and (twice as long) backward.

    Bad:
        weights = (q @ k.transpose(-2, -1) / d ** 0.5).softmax(-1)
        out = weights @ v
    Good:
        out = F.scaled_dot_product_attention(q, k, v)
    """
    for found in run.facts.get("attention_by_hand", []):
        if not found.get("file"):
            continue
        where = (found["file"], int(found["line"]))
        here = [one for one in run.calls() if (one["file"], one["line"]) == where]
        function = {one["in"] for one in here}
        calls = [one for one in run.calls(*_STEPS) if one["file"] == where[0] and one["in"] in function]
        took = run.of_look(_forward(calls) * 3)
        if run.gpu is not None:  # calls only start the work there: the kernels' time tells
            kinds = run.gpu.kinds
            took = min(run.on_device(kinds.get("softmax and loss", 0) * 3), run.step_ns)
        yield Tip(
            where=where,
            message=f"attention is written out as matmul, softmax, matmul ({found['calls']:.0f}x a step)",
            fix="F.scaled_dot_product_attention(q, k, v)",
            share=run.share(took),
            saving_ns=int(took / 3),
            how="a third of these operations, forward and backward",
            evidence={"calls": found["calls"]},
            part="attention",
        )


def _forward(calls: list[dict[str, Any]]) -> int:
    return sum(int(one["ns"]) for one in calls)
