"""Warnings of torch that say what is wrong by themselves."""

from __future__ import annotations

from stepscope.diagnose.stored.known_message import entry

WARNINGS = (
    entry(
        r"lr_scheduler\.step\(\)` before `optimizer\.step",
        "the scheduler steps before the optimizer",
        "call `optimizer.step()` first: otherwise the first value of the schedule is skipped",
    ),
    entry(
        r"Using a target size .* that is different to the input size",
        "input and target of a loss have different shapes, so they are broadcast against each other",
        "make both the same shape, for example with `.squeeze(1)` or `.unsqueeze(1)`",
    ),
    entry(
        r"None of the inputs have requires_grad=True",
        "a checkpointed part gets no gradient",
        "pass `use_reentrant=False` to `checkpoint`",
    ),
    entry(
        r"Implicit dimension choice for (?:log_)?softmax",
        "softmax guesses its axis",
        "say which one: `softmax(x, dim=-1)`",
    ),
    entry(
        r"The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed",
        "the gradient of a tensor that keeps none is read",
        "call `retain_grad()` on it before backward",
    ),
    entry(
        r"Was asked to gather along dimension 0, but all input tensors were scalars",
        "DataParallel returns one loss per GPU",
        "average it: `loss.mean().backward()`",
    ),
    entry(
        r"To copy construct from a tensor, it is recommended to use",
        "`torch.tensor(x)` copies a tensor and cuts its gradient",
        "use `x.clone()` to keep the gradient, or `x.detach().clone()` to say that you do not want it",
    ),
    entry(
        r"Seems like `optimizer\.step\(\)` has been overridden after learning rate scheduler",
        "the scheduler was made before the optimizer was wrapped",
        "make the scheduler after whatever wraps the optimizer",
    ),
    entry(
        r"invalid value encountered in",
        "NumPy computed NaN here: 0/0, inf - inf, or the root or logarithm of a negative number",
        "keep such values out before this line; if NaN is meant, say so with `np.errstate(invalid='ignore')`",
    ),
    entry(
        r"divide by zero encountered in",
        "NumPy divided by zero or took log(0) here: the result is inf",
        "add a small number to the divisor, or leave out columns that do not vary",
    ),
    entry(
        r"overflow encountered in",
        "a NumPy value no longer fits its type: it became inf, or wrapped around",
        "compute in float64 or int64, or limit the argument of exp with np.clip",
    ),
    entry(
        r"Mean of empty slice|Degrees of freedom <= 0",
        "the mean or deviation of no values is NaN",
        "check that the selection before this line is not empty",
    ),
    entry(
        r"std\(\): degrees of freedom is <= 0|var\(\): degrees of freedom is <= 0",
        "the standard deviation of a single value is NaN",
        "use `correction=0`, or more than one sample",
    ),
    entry(
        r"dropout option adds dropout after all but last recurrent layer",
        "the `dropout` of a recurrent layer with num_layers=1 does nothing",
        "use num_layers=2 or more, or put an nn.Dropout after the layer",
    ),
    entry(
        r"Creating a tensor from a list of numpy\.ndarrays is extremely slow",
        "a tensor is made of a list of arrays, one number at a time",
        "join them first: torch.from_numpy(np.stack(arrays))",
    ),
    entry(
        r"NumPy array is not writ(?:e)?able",
        "the tensor shares memory with a read-only array; writing to it is undefined",
        "copy it: torch.from_numpy(array.copy())",
    ),
)
