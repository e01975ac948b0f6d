from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import MASKS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.attention import Masking
from stepscope.records.place import Place


@rule("math.padding-mask-inverted", severity="error")
def padding_mask_inverted(run: Evidence) -> Iterator[Proof]:
    """A padding mask hides the real tokens and shows the padding.

    Why it matters: attention then reads only padding, which has no information; a row without padding has nothing to
    attend to.

    What to do: `key_padding_mask` is True where there is padding; `masked_fill` fills where its mask is True, so give
    it the padding (`~valid`).

    How it is found: the padding of a batch is known (the ends of sequences of different lengths, or an embedding's
    `padding_idx`). The mask that attention gets hides exactly all other positions.

    Bad:
        encoder(x, src_key_padding_mask=ids != PAD)
    Good:
        encoder(x, src_key_padding_mask=ids == PAD)
    """
    for masking in run.attention.all:
        shown = [state for state in masking.pads if state == "shown"]
        if not shown or "hidden" in masking.pads or (len(shown) < 2 and not run.over):
            continue
        where = _where(masking)
        yield Proof(
            where=where,
            message="the padding mask is inverted: the real positions are hidden and the padding is shown",
            label="this hides everything that is not padding",
            evidence={"calls": len(shown), "attention": masking.kind},
            edit=tensors.inverted_mask(where),
            fix="invert it: True must mark the padding (mask == PAD, or ~valid)",
            related=[(masking.place, "the mask is used here")] if where is not masking.place else [],
        )


def _where(masking: Masking) -> Place | None:
    mask = masking.mask
    if mask is None:
        return masking.place
    if masking.kind == "softmax":
        filled = next((one for one in mask.ancestors(8) if one.op in MASKS), None)
        return masking.place if filled is None or filled.place is None else filled.place
    return masking.place if mask.kind != "op" or mask.place is None or mask.op in ("to", "view") else mask.place
