from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.recurrent import Turned
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.rnn-batch-first", severity="error", needs="crash")
def rnn_batch_first(run: Evidence) -> Iterator[Proof]:
    """A recurrent layer or transformer takes the batch for time and time for the batch.

    Why it matters: torch's recurrent layers expect [time, batch, features] unless told otherwise. With batches first,
    samples are read as if they were steps of one sequence: it fails on a hidden state, or learns nothing sensible.

    What to do: build the layer with `batch_first=True`, or transpose the input.

    Bad:
        self.rnn = nn.LSTM(32, 64)                       # input [batch, time, 32]
    Good:
        self.rnn = nn.LSTM(32, 64, batch_first=True)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "rnn-batch-first":
        return
    turned: Turned = fault.facts["turned"]
    first = bool(getattr(turned.module, "batch_first", False))
    kind = type(turned.module).__name__
    reads = "[batch, time, features]" if first else "[time, batch, features]"
    yield Proof(
        where=turned.site or crash.site,
        message=f"{turned.path or kind} reads its input as {reads}: the {turned.batch} samples of the batch "
        f"are taken for time steps",
        label=f"input {list(turned.shape)}",
        evidence={"layer": turned.path or kind, "input_shape": list(turned.shape), "batch_first": first},
        fix="transpose the input: x.transpose(0, 1)" if first else "build it with batch_first=True",
        related=[(crash.site, "it fails here")],
    )
