"""What each step's time went to, as the training loop sees it: data, forward, backward, optimizer."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, share, sheet_of
from stepscope.profile.trace.phases import phase_stretches
from stepscope.profile.trace.step_parts import Cover, cut_steps
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Part, Sheet, StepParts

_LABELS = {
    "data": ("Data", "Waiting for the next batch."),
    "h2d": ("To device", "Copying the batch from the host to the device."),
    "forward": ("Forward", "The model and the loss."),
    "backward": ("Backward", "Gradients."),
    "optimizer": ("Optimizer", "The update of the parameters, and zero_grad."),
}
_REST = Part(key="other", label="Other", help="Everything else: logging, metrics, Python between the phases.")


@analysis("phases", view="overview")
def phases(trace: Trace) -> StepParts | None:
    """Each step's time on the host by phase: data, host to device, forward, backward, optimizer, other."""
    if not trace.steps:
        return None
    when, recorded = trace.once(phase_stretches)
    if not any(len(stretch.begin) for stretch in when.values()):
        return None
    covers = [Cover(key, *_LABELS[key], stretch) for key, stretch in when.items()]
    notes = [] if recorded else ["phases were found from the operators and marks in the trace"]
    if trace.has_device:
        notes.append("these are times of the host: the device may still be at work on an earlier phase")
    return cut_steps("phases", "The phases of each step", trace.steps, covers, _REST, notes, shown=list(_LABELS))


@analysis("phases-on-device", view="overview")
def phases_on_device(trace: Trace) -> Sheet | None:
    """The device's time by the phase of training that launched its work: what forward, backward, optimizer cost it."""
    if not trace.has_device or not trace.steps:
        return None
    when, _ = trace.once(phase_stretches)
    inside = trace.step_of[trace.device_rows] >= 0
    work, moment = trace.device_rows[inside], trace.launched_ns[inside]
    if not len(work) or not any(len(stretch.begin) for stretch in when.values()):
        return None
    keys = list(_LABELS)
    number = np.full(len(work), len(keys))
    for key, stretch in reversed(when.items()):  # the first of them wins
        number[stretch.holds(moment) >= 0] = keys.index(key)
    dur, steps = trace.events.dur[work], len(trace.steps)
    count = np.bincount(number, minlength=len(keys) + 1)
    there = np.flatnonzero(count)
    total = np.bincount(number, dur, len(keys) + 1).astype(np.int64)[there]
    labels = [*(_LABELS[key][0] for key in keys), _REST.label]
    columns = [
        column("phase", "Phase", [labels[i] for i in there.tolist()], help="Where the host launched it."),
        column("step_ns", "Device a step", total / steps, "ns", "Time of its work, for each step.", sums=True),
        column("total_ns", "Device", total, "ns", "The same of all steps.", hidden=True, sums=True),
        column("share", "Share", share(total, float(dur.sum())), "share", "Of the device's work.", sums=True),
        column("work", "Kernels and copies", count[there], "count", "How many pieces of work.", sums=True),
    ]
    rest, raw = (int(trace.events.dur[rows].sum()) for rows in (trace.device_rows[~inside], trace.device_rows))
    got = int(total.sum()) + rest
    check = Check(name="phases and what is outside are the device's work", got=got, expected=raw, ok=got == raw)
    notes = [f"not shown: {rest / 1e6:.3g} ms of work that no step launched"] if rest else []
    return sheet_of("phases-on-device", "The device by phase", columns, checks=[check], notes=notes)
