from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.crash.batch_parts import getitem_of
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.classes import values_returned
from stepscope.diagnose.crash.value_origin import article, none_returned
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_FOUND = re.compile(
    r"batch must contain tensors.*; found <class '([\w.]+)'>|object of type '(NoneType)' has no len"
    r"|expected Tensor as element \d+ in argument 0, but got ([\w.]+)",
    re.I,
)
_FIXES = {
    "NoneType": "return a sample on every path; remove bad samples from the dataset, or drop None in a collate_fn",
    "Image": "convert the image to a tensor: transforms.ToTensor() (torchvision), or torch.from_numpy(np.array(image))",
    "str": "return numbers; text has to be tokenized first, or kept separate by your own collate_fn",
}


@rule("data.bad-sample", severity="error", needs="crash")
def bad_sample(run: Evidence) -> Iterator[Proof]:
    """The dataset returns something that cannot be put into a batch: None, a PIL image, an object.

    Why it matters: the loader's `default_collate` joins tensors, arrays, numbers and text, in tuples and dicts. The
    error comes from inside the loader and does not name the dataset.

    What to do: return tensors from `__getitem__`, on every path; or write a `collate_fn`.

    Bad:
        def __getitem__(self, i):
            return Image.open(self.files[i]), self.labels[i]
    Good:
        def __getitem__(self, i):
            return self.to_tensor(Image.open(self.files[i])), self.labels[i]
    """
    crash = run.crash
    if crash is None or not crash.is_a("TypeError"):
        return
    inside = any("collate" in frame.function for frame in crash.frames) or crash.worker is not None
    told = _FOUND.search(crash.text)
    if told is None or not inside:
        return
    kind = (told[1] or told[2] or told[3]).rpartition(".")[2]
    found = next((one for one in map(getitem_of, crash.datasets) if one is not None), None)
    where, paths = crash.site, ""
    if found is not None:
        file, function = found
        returns = [one for one in values_returned(file, function) if one is not None]
        where = node_site(file, function if kind == "NoneType" or not returns else returns[-1])
        where = (none_returned(file, function) if kind == "NoneType" else None) or where
        paths = " on one of its paths" if kind == "NoneType" and returns else ""
    given = "None" if kind == "NoneType" else f"{article(kind)} {kind}"
    yield Proof(
        where=where,
        message=f"`__getitem__` returns {given}{paths}, which cannot go into a batch",
        label="not every path returns a sample" if kind == "NoneType" else f"{given} in the sample",
        evidence={"type": kind},
        fix=_FIXES.get(kind, "return tensors or numbers, or give the DataLoader a collate_fn"),
        related=[(crash.site, "the loader joins samples here")],
    )
