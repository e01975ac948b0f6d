"""Errors of torch that say what is wrong by themselves."""

from __future__ import annotations

from stepscope.diagnose.stored.known_message import entry

ERRORS = (
    entry(
        r"`(?P<old>np\.\w+)` was removed in the NumPy 2\.0 release\. Use `(?P<new>[^`]+)`",
        "NumPy 2 no longer has `{old}`",
        "write `{new}`",
    ),
    entry(
        r"module 'numpy' has no attribute '(?P<old>\w+)'.*deprecated alias for the builtin `(?P<new>\w+)`",
        "NumPy no longer has `np.{old}`, which was Python's own `{new}`",
        "write `{new}`",
    ),
    entry(
        r"sampler option is mutually exclusive with shuffle",
        "a sampler chooses the order of the samples, so the loader cannot shuffle as well",
        "leave out shuffle=True; the random samplers shuffle by themselves",
    ),
    entry(
        r"batch_sampler option is mutually exclusive with",
        "a batch_sampler makes whole batches: batch_size, shuffle, sampler and drop_last have nothing left to decide",
        "leave these arguments out",
    ),
    entry(
        r"could not infer output dtype\. Input dtype must be either a floating point .* Got: (?P<kind>\w+)",
        "`{tensor}` holds whole numbers or True and False ({kind}), of which PyTorch takes no mean",
        "convert it first: {tensor}.float()",
    ),
    entry(
        r"zero-dimensional tensor .* cannot be concatenated",
        "torch.cat joins along an axis, and single numbers have none",
        "torch.stack({argument}) makes an axis for them",
    ),
    entry(
        r"expected 'f' to be string, path, or a file-like object",
        "the file comes second: torch.save(object, path), torch.load(path)",
        "swap the two arguments: {turned}",
    ),
    entry(
        r"Subtraction, the `-` operator, with (?:a|two) bool tensors? is not supported",
        "`{tensor}` holds True and False, with which PyTorch does not subtract",
        "invert a mask with ~{tensor}; to compute with it, {tensor}.float()",
    ),
    entry(
        r"Object of type (?P<kind>\w+) is not JSON serializable",
        "JSON takes numbers, text, lists and dicts, and there is a {kind} in `{argument}`",
        "store plain values: value.item() for one number, value.tolist() for several",
    ),
    entry(
        r"iteration over a 0-d tensor",
        "`{looped}` is a single number, so there is nothing to loop over",
        "use it as it is; or leave out the reduction (.mean(), .sum()) where it is made",
    ),
    entry(
        r"only integer tensors of a single element can be converted to an index",
        "`{indexed}` is a list, which takes one index at a time, and it gets a tensor of several",
        "make a tensor of it where it is made: {indexed} = torch.tensor({indexed})",
    ),
    entry(
        r"shape of the 2D attn_mask is torch\.Size\(\[(?P<n>\d+), (?P=n)\]\), but should be \((?P<t>\d+), (?P=t)\)",
        "the attention mask is made for {n} positions, and the sequences of this batch have {t}",
        "cut the mask to the batch, mask[:T, :T] with T = x.size(1); or make it for more positions",
        argument="attn_mask",
    ),
    entry(
        r"environment variable (?P<name>\w+) expected, but not set",
        "the ranks are read from environment variables that torchrun sets, and {name} is not set: the script was "
        "started without torchrun",
        "start it with torchrun: torchrun --nproc-per-node=1 SCRIPT (under Stepscope: stepscope run torchrun "
        "--nproc-per-node=1 SCRIPT)",
    ),
    entry(
        r"GuardOnDataDependentSymNode|Could not guard on data-dependent|[Dd]ata-dependent branching",
        "this line decides by the values of a tensor, but an exported or fully compiled model has one path for all "
        "values",
        "compute both results and choose with torch.where(condition, a, b); or torch.cond(condition, f, g, (x,))",
    ),
    entry(
        r"Expected a value of type 'Tensor \(inferred\)' for argument '(?P<name>\w+)' but instead found type "
        r"'(?P<kind>\w+)'",
        "torch.jit.script takes every parameter without an annotation for a tensor, and `{name}` is a {kind}",
        "annotate it: def forward(self, {name}: {kind}[...]); for a list of tensors list[torch.Tensor]",
        parameter=True,
    ),
    entry(
        r"out of memory",
        "the device ran out of memory",
        "make the batch smaller, use autocast or checkpointing, and keep no graph alive in lists of losses",
    ),
    entry(
        r"shapes cannot be multiplied|size mismatch|must match the size of tensor|Expected .*input.* channels",
        "two tensors do not fit",
        "print the shapes on this line; `stepscope run` shows the tensors of every frame",
    ),
    entry(
        r"Expected all tensors to be on the same device|found at least two devices",
        "tensors on different devices meet",
        "move the one that was left behind with `.to(device)`",
    ),
    entry(
        r"expected (?:m1 and m2 to have the same dtype|scalar type)|same dtype",
        "tensors of different types meet",
        "convert one of them, or run this line under autocast",
    ),
    entry(
        r"device-side assert|Target \d+ is out of bounds|index out of range in self",
        "an index or a label is out of range",
        "compare the largest label or token id with the number of classes or embeddings",
    ),
    entry(
        r"DataLoader worker .* (?:is killed|exited unexpectedly)",
        "a DataLoader worker died",
        "try `num_workers=0` to see its error; if it was killed, use less memory or raise the size of /dev/shm",
    ),
    entry(
        r"one of the variables needed for gradient computation has been modified by an inplace operation",
        "a tensor that backward needs was changed in place",
        "replace the in-place operation (`+=`, `relu_`, an index assignment) by one that makes a new tensor",
    ),
    entry(
        r"Trying to backward through the graph a second time",
        "a graph was used by two backwards",
        "compute the loss again for each backward, and detach what is carried over from step to step",
    ),
    entry(
        r"does not require grad and does not have a grad_fn",
        "the loss does not depend on any weight",
        "look for `.detach()`, `.item()`, `no_grad` or `argmax` between the model and the loss",
    ),
    entry(
        r"NCCL|Watchdog caught collective operation timeout",
        "a rank did not take part in a collective",
        "look at the first rank that failed; all ranks must make the same calls in the same order",
    ),
    entry(
        r"stride in the given numpy array is negative",
        "the array is a reversed view, which a tensor cannot share",
        "copy it: add `.copy()` after the slicing or flip",
        value=True,
    ),
    entry(
        r"can't convert np\.ndarray of type numpy\.object_",
        "the array holds Python objects: its rows differ in length, or are not numbers",
        "give all rows the same length, and a number type: np.array(..., dtype=np.float32)",
        value=True,
    ),
    entry(
        r"at start of device string",
        "there is no such device",
        'write "cpu", "cuda" or "cuda:0"',
        value=True,
    ),
    entry(
        r"list is not a Module subclass",
        "a list was passed where layers are expected",
        "unpack it: nn.Sequential(*layers)",
    ),
    entry(
        r"is not a Module subclass",
        "a class or function was passed where a layer is expected",
        "make a layer of it: nn.ReLU(), with parentheses, instead of nn.ReLU or F.relu",
    ),
    entry(
        r"view size is not compatible with input tensor's size and stride",
        "the tensor does not lie in memory in this order (after a transpose or permute)",
        "use `.reshape(...)` instead of `.view(...)`, or `.contiguous()` before it",
    ),
    entry(
        r"is invalid for input of size",
        "the numbers of this view do not multiply to the size of the tensor",
        "compute the sizes from the tensor: x.view(x.size(0), -1)",
    ),
    entry(
        r"Boolean value of Tensor with more than one value",
        "a tensor of several values was used as a condition, or passed where a setting is expected",
        "reduce it with .any(), .all() or .item(); a loss is made first and called then: nn.CrossEntropyLoss()(x, y)",
    ),
    entry(
        r"a Tensor with \d+ elements cannot be converted to Scalar|only one element tensors can be converted",
        "a tensor with several values was converted to a single number",
        "use .tolist(), index one of them, or reduce first: .mean().item()",
    ),
    entry(
        r"Only Tensors of floating point and complex dtype can require gradients",
        "whole numbers cannot have gradients",
        "make it a float: torch.tensor([1.0, 2.0], requires_grad=True)",
    ),
    entry(
        r"cannot assign '.*' as parameter",
        "a plain tensor was assigned in place of a parameter",
        "wrap it: nn.Parameter(...), or write into it under no_grad: weight.copy_(...)",
    ),
    entry(
        r"must be divisible by",
        "two sizes do not divide evenly",
        "choose a size that is a multiple of the number of heads or groups",
    ),
    entry(
        r"Sum of input lengths does not equal the length of the input dataset",
        "the parts of the split do not add up to the dataset",
        "let the last part be what is left, len({argument}) minus the others; or give fractions: [0.8, 0.2]",
    ),
    entry(
        r"Default process group has not been initialized",
        "distributed training was used before it was started",
        "call torch.distributed.init_process_group(...) first, and start the script with torchrun",
    ),
    entry(
        r"No module named",
        "a package is not installed in this Python",
        "install it into the environment that runs the script: python -m pip install NAME",
    ),
    entry(
        r"different number of parameter groups|parameter group that doesn't match the size",
        "the saved optimizer has other parameters than this one",
        "build the optimizer exactly as when it was saved (same groups, same layers), then load",
    ),
    entry(
        r"I/O operation on closed file",
        "the file was closed before",
        "keep it open while it is used: put this line inside the `with` block",
    ),
    entry(
        r"^StopIteration",
        "an iterator has no more items",
        "make a new one for each pass: iter(loader) inside the loop, or loop with `for batch in loader`",
    ),
    entry(
        r"Only Tensors created explicitly by the user .* support the deepcopy",
        "what is copied holds a tensor with a graph",
        "copy a tensor with {argument}.detach().clone(); of a model detach what it keeps (self.cache = x.detach()) or "
        "copy its state_dict",
    ),
    entry(
        r"weight tensor should be defined either for all (\d+) classes",
        "the class weights do not have one number per class",
        "give `weight` one number for each output of the model",
        argument="weight",
    ),
    entry(
        r"Could not infer dtype of NoneType",
        "a list that becomes a tensor holds None where a number is missing",
        "leave out rows with a missing value, or put a number in its place: `0.0 if value is None else value`",
        value=True,
    ),
    entry(
        r"Could not infer dtype of dict|new\(\): invalid data type 'dict'",
        "a dict cannot become a tensor",
        "take its values in a fixed order: torch.tensor([row[name] for name in names])",
        value=True,
    ),
    entry(
        r"expected sequence of length \d+ at dim \d+ \(got \d+\)",
        "the rows of a list that becomes a tensor differ in length",
        "pad or cut them to one length first: torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], "
        "batch_first=True)",
        value=True,
    ),
    entry(
        r"new\(\): invalid data type 'str'|could not determine the shape of object type 'str'|"
        r"too many dimensions 'str'",
        "text cannot become a tensor",
        "give each label a number first: ids = {label: i for i, label in enumerate(sorted(set(labels)))}, then "
        "torch.tensor(ids[label]); of text that is a number take float(text)",
        value=True,
    ),
    entry(
        r"could not convert string to float",
        "a column that is used as numbers holds text",
        "leave the text column (or the header line) out, or map its words to numbers before the conversion",
        value=True,
    ),
    entry(
        r"Class values must be smaller than num_classes",
        "one_hot is given a class id that is not below num_classes",
        "num_classes must be the largest id plus one",
        argument="num_classes",
    ),
    entry(
        r"shape of the \dD attn_mask is",
        "the attention mask does not have the shape that this layer takes",
        "a mask for each sample needs one copy per head: mask.repeat_interleave(num_heads, 0); one for all samples is "
        "[target length, source length]; a mask of padding goes to key_padding_mask",
        argument="attn_mask",
    ),
    entry(
        r"key_padding_mask.*(?:shape|size)|shape of (?:the )?key_padding_mask",
        "the padding mask does not have the shape [batch, source length]",
        "build it as [batch, source length]",
        argument="key_padding_mask",
    ),
    entry(
        r"Length of all samples has to be greater than 0",
        "some sequences are empty: pack_padded_sequence takes lengths of at least 1",
        "drop empty sequences, or count at least one token: lengths.clamp(min=1)",
        argument="lengths",
    ),
    entry(
        r"`lengths` array must be sorted in decreasing order",
        "the sequences are not sorted by length, longest first, as this call expects by default",
        "pass enforce_sorted=False",
    ),
    entry(
        r"Expected `len\(lengths\)` to be equal to batch_size",
        "the lengths do not fit the sequences they belong to",
        "give one length per sequence",
        argument="lengths",
    ),
    entry(
        r"Tensors must have same number of dimensions",
        "tensors with different numbers of axes are joined",
        "add or remove an axis of size 1 first: unsqueeze or squeeze",
    ),
)
