from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import TRANSPOSES
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.layer_places import built_at, layer_copied
from stepscope.diagnose.loss_terms import axes_of
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.sequence_layers import KINDS, reads_batch_first
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin
from stepscope.evidence.visits import Visit

_TURNS = TRANSPOSES | {"stack", "einsum", "view", "reshape", "unbind", "pad_sequence", "pack_padded_sequence"}


@rule("shape.rnn-batch-first", severity="error", needs="crash, steps")
def rnn_batch_first(run: Evidence) -> Iterator[Proof]:
    """A recurrent layer or transformer treats the batch axis as time and the time axis as the batch.

    Why it matters: torch's recurrent layers expect [time, batch, features] unless told otherwise. With batches first,
    samples are read as if they were steps of one sequence: it fails on a hidden state, or learns nothing sensible.

    What to do: build the layer with `batch_first=True`, or transpose the input.

    Bad:
        self.rnn = nn.LSTM(32, 64)                       # input [batch, time, 32]
    Good:
        self.rnn = nn.LSTM(32, 64, batch_first=True)
    """
    crash = run.crash
    if crash is None:
        yield from _silent(run)
        return
    from stepscope.diagnose.crash.recurrent import Turned
    from stepscope.diagnose.crash.sizes import size_fault

    fault = size_fault(crash)
    if fault is None or fault.kind != "rnn-batch-first":
        return
    turned: Turned = fault.facts["turned"]
    first = bool(turned.module.attributes.get("batch_first", False))
    kind = turned.module.type
    reads = "[batch, time, features]" if first else "[time, batch, features]"
    site = layer_copied(run, turned.site)
    yield Proof(
        where=site or crash.site,
        message=f"{turned.path or kind} reads its input as {reads}: the {turned.batch} samples of the batch "
        f"are treated as time steps",
        label=f"input {list(turned.shape)}",
        evidence={"layer": turned.path or kind, "input_shape": list(turned.shape), "batch_first": first},
        edit=None if first else layers.batch_first(site),
        fix="transpose the input: x.transpose(0, 1)" if first else "build it with batch_first=True",
        related=[(crash.site, "it fails here")],
    )


def _silent(run: Evidence) -> Iterator[Proof]:
    """Batches that go in first axis first, and losses that count samples along that same axis."""
    calls = [call for call in list(run.losses.calls)[-8:] if call.trains]
    for module, visits in run.shapes_seen.of(*KINDS):
        training = [visit for visit in visits if visit.grad]
        if reads_batch_first(module) or len(training) < 2 or not all(_counts_samples(v, calls) for v in training[-2:]):
            continue
        visit = training[-1]
        if visit.parent is not None and visit.parent.module.is_a(*KINDS):
            continue
        shape = visit.shapes_in[0]
        site = layer_copied(run, built_at(run, visit.root.module, visit.path))
        yield Proof(
            where=site,
            message=f"{visit.path or visit.type} reads its input as [time, batch, features]: the {shape[0]} samples of "
            f"the batch are treated as time steps and mixed",
            label=f"input {list(shape)}, {shape[0]} labels",
            evidence={"layer": visit.path or visit.type, "input_shape": list(shape), "batch_first": False},
            edit=layers.batch_first(site),
            fix="build it with batch_first=True",
            severity="warning",
        )
        return


def _counts_samples(visit: Visit, calls: list[LossCall]) -> bool:
    """Whether the first axis is the samples: as long as the labels, untouched since the data, unlike the second."""
    shape = visit.shapes_in[0] if visit.shapes_in else ()
    if len(shape) != 3 or min(shape[0], shape[1]) < 2 or shape[0] == shape[1] or not visit.inputs:
        return False
    # Behind a loader's batch lies the collation, which stacks; only what came after it could have turned the axes.
    since = visit.inputs[0].ancestors(400, through=lambda past: past.kind not in ("data", "parameter"))
    if any(map(_turns, since)):
        return False
    targets = [call.shapes["target"] for call in calls if "target" in call.shapes]
    per_sample = [t for t in targets if t[:1] == shape[:1] and (len(t) == 1 or shape[1] not in t[1:])]
    return len(per_sample) >= 2 and len(per_sample) == len(targets)


def _turns(origin: Origin) -> bool:
    """Whether an op may have changed which axis is the first; stacking features behind the others does not."""
    if origin.op != "stack":
        return origin.op in _TURNS
    return (axes_of(origin, len(origin.shape)) or (0,))[0] < 2
