"""The one table of what Stepscope may touch in the user's process, with the reason for each.

A point is `module:path`. Nothing else can be wrapped or replaced (`Installed` refuses), `stepscope doctor` prints the
table with what is in place now, and docs/design/023-events.md shows it. The hot doors (a loader's `__next__`,
`Module.__call__`, autograd's engine, the optimizer hooks, the function mode) are in the files named for them.
"""

from __future__ import annotations

from typing import NamedTuple

from stepscope.events.points_elsewhere import ELSEWHERE

__all__ = ["POINTS", "Point"]


class Point(NamedTuple):
    """One attribute of somebody else's."""

    address: str
    group: str
    why: str


_DATA = "torch.utils.data.dataloader"
_TABLE: dict[str, dict[str, str]] = {
    "torch": {
        "torch:compile": "compiled code must not see us: models and operations are no longer followed",
        "torch._dynamo.eval_frame:OptimizeContext.__init__": "compiling without torch.compile",
        "torch.export:export": "we are outside while it runs",
        "torch.export:draft_export": "we are outside while it runs",
        "torch.export:export_for_training": "we are outside while it runs",
        "torch.onnx:export": "we are outside while it runs",
        "torch.onnx:dynamo_export": "we are outside while it runs",
        "torch.jit:trace": "we are outside while it runs",
        "torch.jit:trace_module": "we are outside while it runs",
        "torch.jit:script": "we are outside while it runs",
        "torch.fx:symbolic_trace": "we are outside while it runs",
        "torch.fx.experimental.proxy_tensor:make_fx": "we are outside while it runs",
        "torch:from_numpy": "the one way into torch that no mode sees",
        "torch:save": "what is saved, and when",
        "torch:load": "what is loaded, and whether it is used",
        "torch:manual_seed": "seeds that are set again and again",
        "torch.nn:Module.__init__": "where each module was made",
        "torch.nn:Module.train": "who called train() and eval()",
        "torch.nn:Module.to": "which modules were moved to a device",
        "torch.nn:Module.cuda": "which modules were moved to a device",
        "torch.nn:Module.zero_grad": "gradients were cleared",
        "torch.nn:Module.state_dict": "what is saved",
        "torch.nn:Module.load_state_dict": "weights were loaded",
        "torch.nn:Module.compile": "compiled code must not see us",
        "torch.optim:Optimizer.__init__": "an optimizer was made, over which parameters",
        "torch.optim:Optimizer.add_param_group": "its parameters grew",
        "torch.optim:Optimizer.zero_grad": "gradients were cleared",
        "torch.optim:Optimizer.load_state_dict": "its state was loaded",
    },
}
POINTS: dict[str, Point] = {
    address: Point(address, group, why)
    for group, points in (*_TABLE.items(), *ELSEWHERE.items())
    for address, why in points.items()
}
