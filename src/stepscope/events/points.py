"""The one table of what Stepscope may touch in the user's process, with the reason for each.

A point is `module:path`. Nothing else can be wrapped or replaced (`Installed` refuses), `stepscope doctor` prints the
table with what is in place now, and docs/design/023-events.md shows it. The hot doors (a loader's `__next__`,
`Module.__call__`, autograd's engine, the optimizer hooks, the function mode) are in the files named for them.
"""

from __future__ import annotations

from typing import NamedTuple

from stepscope.events.points_elsewhere import ELSEWHERE
from stepscope.events.points_profile import PROFILING


class Point(NamedTuple):
    """One attribute of somebody else's."""

    address: str
    group: str
    why: str


_DATA = "torch.utils.data.dataloader"
_TABLE: dict[str, dict[str, str]] = {
    "process": {
        "warnings:_showwarnmsg": "a warning names the user's line, not ours",
        "numpy.random:seed": "seeds that are set again and again",
        "random:seed": "seeds that are set again and again",
        "os:rename": "a checkpoint that every rank moves to one place; only in a rank that has saved one",
        "os:replace": "a checkpoint that every rank moves to one place; only in a rank that has saved one",
    },
    "torch": {
        "torch.nn:Module.register_forward_hook": "hooks that pile up",
        "torch.nn:Module.register_forward_pre_hook": "hooks that pile up",
        "torch.nn:Module.register_full_backward_hook": "hooks that pile up",
        "torch.nn:Module.register_full_backward_pre_hook": "hooks that pile up",
        "torch.nn:Module.register_backward_hook": "hooks that pile up",
        "torch.autograd:Function.apply": "custom gradients, to be compared with finite differences",
        "torch.nn.functional:interpolate": "class ids resized like a picture, before the training",
        "torch.autograd:set_detect_anomaly.__init__": "anomaly detection left on",
        "torch.autograd:detect_anomaly.__init__": "anomaly detection left on",
        "torch.nn.utils.clip_grad:_clip_grads_with_norm_": "gradients are clipped",
        "torch.nn.utils.clip_grad:_get_total_norm": "the norm that clipping measured",
        "torch.nn.utils.clip_grad:clip_grad_norm_": "gradients are clipped",
        "torch.nn.utils.clip_grad:clip_grad_value_": "gradients are clipped",
        "torch.nn.utils:clip_grad_norm_": "gradients are clipped",
        "torch.nn.utils:clip_grad_value_": "gradients are clipped",
        "torch.amp:GradScaler.scale": "the order of a gradient scaler's calls; the loss before scaling",
        "torch.amp:GradScaler.unscale_": "the order of a gradient scaler's calls",
        "torch.amp:GradScaler.step": "the order of a gradient scaler's calls",
        "torch.amp:GradScaler.update": "the order of a gradient scaler's calls",
        "torch.cuda.amp:GradScaler.scale": "the order of a gradient scaler's calls; the loss before scaling",
        "torch.cuda.amp:GradScaler.unscale_": "the order of a gradient scaler's calls",
        "torch.cuda.amp:GradScaler.step": "the order of a gradient scaler's calls",
        "torch.cuda.amp:GradScaler.update": "the order of a gradient scaler's calls",
        "torch.optim.lr_scheduler:LRScheduler.__init__": "a scheduler was made",
        "torch.optim.lr_scheduler:SequentialLR.__init__": "a scheduler was made",
        "torch.optim.lr_scheduler:ChainedScheduler.__init__": "a scheduler was made",
        "torch.optim.lr_scheduler:ReduceLROnPlateau.__init__": "a scheduler was made",
        "torch.optim.lr_scheduler:LRScheduler.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:LambdaLR.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:MultiplicativeLR.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:SequentialLR.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:ChainedScheduler.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:ReduceLROnPlateau.load_state_dict": "a scheduler's state is put back",
        "torch.optim.lr_scheduler:_enable_get_lr_call": "a scheduler steps",
        "torch.optim.lr_scheduler:ReduceLROnPlateau._is_better": "what a plateau scheduler was given",
        "torch.optim.lr_scheduler:ReduceLROnPlateau.is_better": "what a plateau scheduler was given",
        "torch.nn.parallel:DistributedDataParallel.__init__": "a model was wrapped for several ranks",
        "torch.utils.data:DistributedSampler.__init__": "samplers that share data out",
        "torch.utils.data:DistributedSampler.__iter__": "samplers that share data out",
        "torch.utils.data:DistributedSampler.set_epoch": "samplers that share data out",
        "torch.distributed:all_reduce": "a collective",
        "torch.distributed:broadcast": "a collective",
        "torch.distributed:reduce": "a collective",
        "torch.distributed:all_gather": "a collective",
        "torch.distributed:all_gather_into_tensor": "a collective",
        "torch.distributed:gather": "a collective",
        "torch.distributed:scatter": "a collective",
        "torch.distributed:reduce_scatter": "a collective",
        "torch.distributed:reduce_scatter_tensor": "a collective",
        "torch.distributed:all_to_all": "a collective",
        "torch.distributed:all_to_all_single": "a collective",
        "torch.distributed:barrier": "a collective",
        "torch.distributed:monitored_barrier": "a collective",
        "torch.distributed:all_gather_object": "a collective",
        "torch.distributed:gather_object": "a collective",
        "torch.distributed:broadcast_object_list": "a collective",
        "torch.distributed:scatter_object_list": "a collective",
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
        "torch._C:_create_graph_by_tracing": "we are outside while it runs",
        "torch._C:_create_function_from_trace": "we are outside while it runs",
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
        "torch._functorch.vmap:_add_batch_dim": "a tensor goes into vmap",
        "torch._functorch.vmap:_remove_batch_dim": "a tensor comes out of vmap",
        "torch._functorch.eager_transforms:_wrap_for_grad": "a tensor goes into torch.func.grad",
        "torch._functorch.eager_transforms:_unwrap_for_grad": "a tensor comes out of torch.func.grad",
    },
}
POINTS: dict[str, Point] = {
    address: Point(address, group, why)
    for group, points in (*PROFILING.items(), *ELSEWHERE.items(), *_TABLE.items())
    for address, why in points.items()
}
