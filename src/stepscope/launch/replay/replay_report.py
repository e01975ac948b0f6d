"""What a replay did and found, for a person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from stepscope.common.units import counted
from stepscope.launch.capsule.manifest import Manifest
from stepscope.launch.replay.replay import Outcome, said

_FEW = 6


def what_failed(manifest: Manifest) -> str:
    """One line: which step, and what was wrong with it."""
    rank = f" of rank {manifest.rank}" if manifest.rank else ""
    if manifest.why == "error":
        what = manifest.error.splitlines()[0] if manifest.error else "an error"
    elif manifest.why == "loss":
        what = f"its loss was {_number(manifest.loss)}"
    else:
        what = f"its gradient norm was {_number(manifest.grad_norm)}, its loss {_number(manifest.loss)}"
    return f"step {manifest.step}{rank}: {what}"


def _number(text: str) -> str:
    return f"{float.fromhex(text):.8g}" if text else "not recorded"


def told(outcome: Outcome, *, color: bool, width: int, root: Path) -> Iterator[str]:
    """The story, line by line."""
    if not outcome.reached:
        yield from _not_reached(outcome)
        return
    yield from _put_in_place(outcome)
    yield from _compared(outcome)
    yield ""
    if outcome.error is not None:
        from stepscope.diagnose.show import render

        for finding in outcome.findings:
            yield render(finding, color=color, width=width, root=root)
    elif outcome.report is not None:
        yield str(outcome.report)
    if not outcome.failed_again:
        yield "the step succeeded: what failed then does not fail now"
        ranks = outcome.manifest.facts.get("WORLD_SIZE", "1")
        if ranks != "1" and outcome.manifest.why == "gradient":
            yield f"gradients were averaged over {ranks} ranks; another one may be the cause: try --rank"


def _not_reached(outcome: Outcome) -> Iterator[str]:
    anchor = outcome.manifest.anchor
    where = "its step" if anchor is None else f"line {anchor.line} of {Path(anchor.file).name} ({anchor.text})"
    if outcome.error is not None:
        yield f"the script failed before it reached {where}: {said(outcome.error)}"
        yield "a replay needs everything the script reads before its loop (data, other files); see the traceback"
    else:
        yield f"the script ended before it reached {where}, where the saved step began"


def _put_in_place(outcome: Outcome) -> Iterator[str]:
    manifest = outcome.manifest
    source = "from the capsule" if outcome.stage.from_capsule else "on this disk"
    yield f"  code      {counted(len(manifest.sources), 'file')} {source}"
    if manifest.has_batch:
        more = len(outcome.batch_tensors) - _FEW
        shown = outcome.batch_tensors[:_FEW] + ([f"{more} more"] if more > 0 else [])
        yield f"  batch     {', '.join(shown) or 'without a tensor'}"
    for one in outcome.loaded:
        note = f"; {one.note}" if one.note else ""
        yield f"  state     {one.what.rpartition('.')[2]}: {counted(one.tensors, 'tensor')}{note}"
    plain = [f"{counted(outcome.values_set, 'variable')} set"] if outcome.values_set else []
    if outcome.arguments_replaced:
        count = counted(outcome.arguments_replaced, "argument")
        plain.append(f"{count} of the model replaced by the saved ones")
    if plain:
        yield f"  values    {', '.join(plain)}"
    if manifest.steps_taken:
        count = counted(manifest.steps_taken, "optimizer step")
        yield f"  resumed   after {count} of this iteration"
    for missing in manifest.missing[:_FEW]:
        yield f"  missing   {missing}"
    if manifest.late:
        yield "  note      noticed one step late (on a device); the parameters may already have been corrupted"


def _compared(outcome: Outcome) -> Iterator[str]:
    if outcome.loss is not None:
        verdict = {True: ", identical to the recorded one", False: "", None: ""}[outcome.same_loss]
        if outcome.same_loss is False:
            recorded = float.fromhex(outcome.manifest.loss)
            apart = abs(outcome.loss - recorded) if math.isfinite(outcome.loss) else math.inf
            verdict = f"; recorded: {recorded:.8g}, a difference of {apart:.3g}: the step was not repeated exactly"
        yield f"  loss      {outcome.loss:.8g}{verdict}"
    if outcome.grad_norm is not None:
        yield f"  gradient  norm {outcome.grad_norm:.8g}"
    if outcome.error is not None:
        same = ", the same error as recorded" if outcome.same_error else ""
        yield f"  error     {said(outcome.error).splitlines()[0]}{same}"
    yield f"  took      {outcome.seconds:.1f} s"
