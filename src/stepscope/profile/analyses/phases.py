"""What each step's time went to, as the training loop sees it: data, forward, backward, optimizer."""

from __future__ import annotations

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.phases import phase_stretches
from stepscope.profile.trace.step_parts import Cover, cut_steps
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Part, StepParts

__all__ = ["phases"]

_LABELS = {
    "data": ("Data", "Waiting for the next batch."),
    "h2d": ("To device", "Copying the batch from the host to the device."),
    "forward": ("Forward", "The model and the loss."),
    "backward": ("Backward", "Gradients."),
    "optimizer": ("Optimizer", "The update of the parameters, and zero_grad."),
}
_REST = Part(key="other", label="Other", help="What is none of these: logging, metrics, Python between the phases.")


@analysis("phases", view="overview")
def phases(trace: Trace) -> StepParts | None:
    """Each step's time on the host by phase: data, host to device, forward, backward, optimizer, other."""
    if not trace.steps:
        return None
    when, recorded = phase_stretches(trace)
    if not any(len(stretch.begin) for stretch in when.values()):
        return None
    covers = [Cover(key, *_LABELS[key], stretch) for key, stretch in when.items()]
    notes = [] if recorded else ["phases were found from the operators and marks in the trace"]
    if trace.has_device:
        notes.append("these are times of the host: the device may still be at work on an earlier phase")
    return cut_steps("phases", "The phases of each step", trace.steps, covers, _REST, notes, shown=list(_LABELS))
