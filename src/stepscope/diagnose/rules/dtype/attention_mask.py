from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.where_made import cast_where
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_DIRECT = r"expected attn_mask dtype to be bool"
_LAYER = r"only bool and floating types of (\w+) are supported"


@rule("dtype.attention-mask", severity="error", needs="crash")
def attention_mask(run: Evidence) -> Iterator[Proof]:
    """An attention mask of whole numbers, where a mask of True and False is expected.

    Why it matters: attention takes a bool mask, or a float mask that is added to the scores. The 0 and 1 of a tokenizer
    are neither.

    What to do: make the mask bool where it is made. For `scaled_dot_product_attention` True means "look here", so
    `mask.bool()`. For `nn.MultiheadAttention` and the Transformer layers True means "ignore this", so `mask == 0` for
    a mask with 1 for each token.

    Bad:
        mask = torch.tril(torch.ones(n, n, dtype=torch.long))
    Good:
        mask = torch.tril(torch.ones(n, n, dtype=torch.bool))
    """
    crash = run.crash
    if crash is None or not crash.says(_DIRECT, _LAYER):
        return
    mask = _mask(crash)
    if mask is None or mask.is_floating or mask.dtype == "bool":
        return
    direct = crash.says(_DIRECT)
    where = cast_where(crash, mask)
    ones = "" if mask.extremes is None else f", {int(mask.extremes[0])} to {int(mask.extremes[1])}"
    if direct:
        fix = "make it bool where it is made, True where attention may look: .bool()"
    else:
        fix = "make it bool where it is made, True for what is to be ignored: mask == 0 if it holds 1 for each token"
    yield Proof(
        where=where or crash.site,
        message=f"the attention mask is {mask.dtype}; attention takes bool, or float to add to the scores",
        label=f"{mask.dtype} {list(mask.shape)}{ones}",
        evidence={"dtype": mask.dtype, "shape": list(mask.shape)},
        edit=edits.append(where, ".bool()") if direct and where is not None else None,
        fix=fix,
        related=[] if where is None else [(crash.site, "attention refuses it here")],
    )


def _mask(crash: Crash) -> HeldTensor | None:
    """The mask of the failing call: torch's checks know it by this name, the fused function by its arguments."""
    for frame in reversed(crash.frames):
        for name in ("attn_mask", "mask"):
            found = frame.locals.get(name)
            if not frame.own and isinstance(found, HeldTensor):
                return found
    whole = [tensor for _, tensor in crash.operands if not tensor.is_floating]
    return whole[-1] if whole else None
