"""One printed line as numbers with names: `Train Epoch: 3 [64/320 (20%)]  Loss: 0.53` is `Train Loss` 0.53 of epoch 3.

Names are the printed words. A heading (`Test set: Average loss: 0.5, Accuracy: 0.8`) is prefixed to each name of its
line.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field

from stepscope.launch.printed.clean_line import cleaned

_VALUE = re.compile(
    r"(?<![\w.@^\-/])(?P<value>[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b)"
    r"(?P<unit>\s?%|\s?(?:ms|us|s|sec|secs|seconds|min|h|it/s|x|MB|GB|GiB|MiB)(?![\w/])|ms/\w+|s/\w+|\s?/\s?(?:s|sec)(?![\w/]))?"
    r"(?![\w@^]|\.\d|:\d|\s*[+*^]\s)",
    re.IGNORECASE,
)
_NUMBER = r"(\d+(?:\.\d+)?)"
_OF = r"(?:\s*(?:/|of)\s*\d+)?"
_EPOCH = re.compile(
    rf"\bepochs?\b\s*[:=#]?\s*[\[(]?\s*{_NUMBER}{_OF}\s*[\])]?\s*(?:\[\s*\d+\s*/\s*\d+\s*\])?(?![\w.])", re.IGNORECASE
)
_STEP = re.compile(
    r"(?<![\w/])(?:n_|num_)?(?:global[_ ]step|(?:train(?:ing)?[_ ])?steps?|iter(?:ation)?s?|itr|(?:mini-?)?batch(?:es)?"
    rf"|updates?|episodes?|rounds?|generations?|i)\b\s*(?:[:=#]\s*|(?=[\[(\s]))[\[(]?\s*{_NUMBER}{_OF}\s*[\])]?(?![\w.%])",
    re.IGNORECASE,
)
_EPOCH_OF_PHASE = re.compile(r"(?<=\w)\s*:\s*(\d+)\s*(?=\[\s*\d+\s*/\s*\d+)")
"""`Train: 3 [  40/128 ( 31%)]`."""
_PAIR = re.compile(r"^\W*\[\s*(\d+)\s*(?:/\s*\d+)?\s*(?:\]\s*\[|,)\s*(\d+)\s*(?:/\s*\d+)?\s*\]")
_PROGRESS = re.compile(
    r"[\[(]\s*\d+\s*/\s*\d+\s*(?:\(\s*\d+(?:\.\d+)?\s*%\s*\))?\s*[\])]|\b\d+\s*/\s*\d+\s+(?:batches|steps|samples|examples|images)\b"
)
_RATIO = re.compile(r"(?<![\w.\[(])(\d+)\s*/\s*(\d+)(?:\s*\(\s*(\d+(?:\.\d+)?)\s*%\s*\))?(?![\w.])")
_HARD = re.compile(r"[,;|\t\[\]{}]|\s-+\s|\s{3,}|--+|==+")
_TIED = re.compile(r"(?:[:=~]|->|\bis|\bwas)\s*$", re.IGNORECASE)
_TIED_TO_INTEGER = re.compile(r"(?:=\s*|(?:[:~]|->|\bis|\bwas)\s+)$", re.IGNORECASE)
_WORKED_OUT = re.compile(r"\b\d+\s*/\s*\d+\s*=\s*(?=\d)")
"""`143/200 = 71.50%`: the ratio is the number."""
_WORDS_AFTER = re.compile(r"\s*([A-Za-z][\w/]*(?: [A-Za-z][\w/]*){0,2})\s*(?=$|[|,;])")
_NO_NAME = re.compile(r"\d+\s*/\s*\d+|\(\s*\)")
_BREAK = re.compile(r"[;|\t\[\]{}]|\s-+\s|\s{3,}")
"""What ends the reach of `train` in `train loss 0.5 acc 0.8 | pixel acc 0.9`."""
_FILLER = re.compile(
    r"^(?:\W|\b(?:end|of|after|finished|at|in|for|done|complete|the|and|with|on)\b)+|(?:[^\w)]|\b(?:of|at|in|for|after|is|was|and|on)\b)+$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?<![a-z])(?:train(?:ing)?|val(?:id(?:ation)?)?|test(?:ing)?|dev|eval(?:uation)?)(?![a-z])", re.IGNORECASE
)
_METRIC = re.compile(
    r"loss|acc(?!um|el|ess|ord|ount)|ppl|perplexity|score|f1|reward|return|bleu|rouge|psnr|rmse|elbo|fitness|recall|precision"
    r"|entropy|(?<![a-z])(?:top-?\d+|hits?@\d+|mrr|ndcg|err(?:or)?s?|auc|iou|m?iou|dice|ssim|m?ap|mae|mse|kl|nll|bce|fid|bpb|bits|train(?:ing)?"
    r"|val(?:id(?:ation)?)?|test(?:ing)?|correct)(?![a-z])",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\s*(?P<name>[A-Za-z][^\[\]=:|]*?)\s*@?\s*\[(?P<of>[^\[\]]*=[^\[\]]*)\]\s*[:=]\s*(?P<value>[-+]?\d*\.\d+)"
)
"""`Average Precision (AP) @[ IoU=0.50:0.95 | area=all ] = 0.023`: the numbers in the brackets belong to the name."""
_COUNTER = " \x00 "
"""Stands for a counter: words before it (`Train Epoch: 3`) are the heading of what follows."""
LONGEST_NAME, MOST_NUMBERS = 80, 40


@dataclass
class Line:
    """What one line says."""

    numbers: dict[str, float] = field(default_factory=dict)
    nameless: list[float] = field(default_factory=list)
    """Numbers without a word before them."""
    epoch: float | None = None
    step: int | None = None


def is_metric(name: str) -> bool:
    """Whether a name speaks of the quality of a model.

    >>> [is_metric(one) for one in ("val_loss", "Test set", "Overriding batch_size", "eval_interval", "accumulation")]
    [True, True, False, False, False]
    """
    return _METRIC.search(name) is not None


def has_role(name: str) -> bool:
    """Whether a name says itself which data it is of.

    >>> [has_role(one) for one in ("val_loss", "Test set Accuracy", "Loss")]
    [True, True, False]
    """
    return _ROLE.search(name) is not None


def read_line(text: str, heading: str = "") -> Line:
    """The numbers of one line; `heading` is what the line before announced (`Test Error:`).

    >>> read_line("Train Epoch: 1 [64/320 (20%)]\\tLoss: 2.300039")
    Line(numbers={'Train Loss': 2.300039}, nameless=[], epoch=1.0, step=None)
    >>> read_line("Test set: Average loss: 0.0563, Accuracy: 9812/10000 (98%)").numbers
    {'Test set Average loss': 0.0563, 'Test set Accuracy': 98.12}
    >>> read_line("[1/5][20/391] Loss_D: 1.4 D(x): 0.55 D(G(z)): 0.48 / 0.02").numbers
    {'Loss_D': 1.4, 'D(x)': 0.55, 'D(G(z))': 0.48, 'D(G(z)) (2)': 0.02}
    >>> read_line("Epoch: [0][ 10/100] Loss 6.9e+00 (7.0e+00) Acc@1 12.50 ( 10.00)").numbers
    {'Loss': 6.9, 'Loss (avg)': 7.0, 'Acc@1': 12.5, 'Acc@1 (avg)': 10.0}
    >>> read_line("step 250: train loss 2.4, val loss 2.5")
    Line(numbers={'train loss': 2.4, 'val loss': 2.5}, nameless=[], epoch=None, step=250)
    >>> read_line("{'loss': 0.5, 'epoch': 2.0}"), read_line("99 1234.5").nameless
    (Line(numbers={'loss': 0.5}, nameless=[], epoch=2.0, step=None), [1234.5])
    >>> read_line("AP @[ IoU=0.50 | area= all ] = 0.25").numbers, read_line("End of training | test loss 1.5").numbers
    ({'AP [IoU=0.50 area=all]': 0.25}, {'test loss': 1.5})
    >>> read_line("train loss 0.5 acc 0.8 | pixel acc 0.9").numbers
    {'train loss': 0.5, 'train acc': 0.8, 'pixel acc': 0.9}
    """
    text = _unnested(cleaned(text).replace("'", "").replace('"', "").replace("**", ""))
    line = Line()
    if not text:
        return line
    qualified = _QUALIFIED.fullmatch(text)
    if qualified is not None:
        of = re.sub(r"\s*([=|])\s*", lambda mark: mark[1].replace("|", " "), qualified["of"].strip())
        line.numbers[f"{words(qualified['name'])} [{of}]"] = float(qualified["value"])
        return line
    text = _take_counters(text, line)
    text = _PROGRESS.sub(" | ", text)
    text = _WORKED_OUT.sub("", text)
    _Reader(text, line, heading).read()
    return line


def _unnested(text: str) -> str:
    """Dictionaries in a dictionary, with the outer name before each inner one.

    >>> _unnested("{epoch: 2, train: {loss: 0.5, acc: 0.75}, val: {loss: 0.625}}")
    'epoch: 2, train loss: 0.5, train acc: 0.75, val loss: 0.625'
    """
    if re.search(r"\w\s*:\s*\{", text) is None:
        return text
    found, outer = [], list[str]()
    parts = re.split(r"([{},])", text)
    for part, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if mark == "{":
            outer.append(part.strip(" :"))
        elif part.strip():
            found.append(" ".join([*filter(None, outer), part.strip()]))
        if mark == "}" and outer:
            outer.pop()
    return ", ".join(found)


def _take_counters(text: str, line: Line) -> str:
    pair = _PAIR.match(text)
    if pair is not None:
        line.epoch, line.step = float(pair[1]), int(pair[2])
        text = text[: pair.start()] + " | " + text[pair.end() :]
    epoch = _EPOCH.search(text) or _EPOCH_OF_PHASE.search(text)
    if epoch is not None:
        line.epoch = float(epoch[1])
        text = text[: epoch.start()] + _COUNTER + text[epoch.end() :]
    step = _STEP.search(text)
    if step is not None:
        line.step = int(float(step[1]))
        text = text[: step.start()] + _COUNTER + text[step.end() :]
    return text


@dataclass
class _Reader:
    """Goes through a line from number to number."""

    text: str
    line: Line
    heading: str
    _last: str = ""
    _role: str = ""

    def read(self) -> None:
        done = 0
        for start, end, value, is_loose in _values(self.text):
            if start < done or len(self.line.numbers) >= MOST_NUMBERS:
                continue
            gap = self.text[done:start]
            if is_loose and not _TIED_TO_INTEGER.search(gap):
                continue  # "on the 10000 test images"
            done = end
            self._take(gap, value, end)

    def _take(self, gap: str, value: float, end: int) -> None:
        if self._last and re.fullmatch(r"\s*[\[(]\s*(?:avg:?|mean:?)?\s*", gap):
            self._keep(f"{self._last} (avg)", value)
            return
        if self._last and re.fullmatch(r"\s*/\s*", gap):
            self._keep(f"{self._last} (2)", value)
            return
        if re.search(r"[+*]\s*$", gap):  # a term of a formula
            return
        name = self._named(gap)
        if not name and (after := _WORDS_AFTER.match(self.text, end)):
            name = after[1]  # "1234.5 samples/sec"
        if name:
            self._last = name
            self._keep(name, value)
        else:
            self.line.nameless.append(value)

    def _named(self, gap: str) -> str:
        before, counter, after = gap.rstrip().rpartition("\x00")
        above_counter = words(before.replace("\x00", " ")) if counter else ""
        if (above_counter and not after.strip(" :=")) or _TIED.fullmatch(after.strip()):
            return above_counter  # "Loss after epoch 3: 0.5"
        self.heading = above_counter or self.heading
        *parts, name = _HARD.split(_TIED.sub("", after).rstrip())
        if not counter or not self.heading:
            announced = [said for part in parts if (said := _announced(part)) and not self._last]
            self.heading = announced[0] if announced else self.heading
        if not name.strip(" :=()") and parts and not self._last:
            return ""
        *above, name = re.split(r":\s+", name)
        if above and (said := words(" ".join(above))):
            self.heading = said
        name = words(_NO_NAME.sub(" ", name.lstrip(")% ")))
        if not name or len(name) > LONGEST_NAME or not re.search(r"(?<!\d)[^\W\d_]", name):
            return ""
        if self.heading and self.heading.lower() not in name.lower() and not _is_of_another(name, self.heading):
            name = f"{self.heading} {name}"
        if _BREAK.search(after):
            self._role = ""
        return self._with_role(name)

    def _with_role(self, name: str) -> str:
        """`train Loss: 0.5 Acc: 0.8`: the accuracy is that of the training too."""
        role = _ROLE.search(name)
        if role is not None:
            self._role = role[0] if role.start() == 0 and name[role.end() :].startswith(" ") else ""
        elif self._role and is_metric(name):
            name = f"{self._role} {name}"
        return name

    def _keep(self, name: str, value: float) -> None:
        if name.lower() == "epoch":
            self.line.epoch = value
            return
        self.line.numbers[unique_name(name, self.line.numbers)] = value


def _announced(part: str) -> str:
    """`split: valid` announces the numbers of `valid`."""
    return words(part.rpartition(":")[2].strip() or part)


def _is_of_another(name: str, heading: str) -> bool:
    """`End of training | test loss 1.5`: a name that says its own split needs none from the heading."""
    own, above = _ROLE.search(name), _ROLE.search(heading)
    return own is not None and above is not None and own[0][:2].lower() != above[0][:2].lower()


def unique_name(name: str, taken: Container[str]) -> str:
    """`loss`, and where that is taken `loss (2)`."""
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


def words(text: str) -> str:
    """A name as people would repeat it: without what frames it."""
    text = _FILLER.sub("", text.strip())
    text = _balanced(text.strip(" :=-*>#.!?~"))
    return re.sub(r"\s+", " ", text)


def _balanced(text: str) -> str:
    if text.count("(") == text.count(")"):
        return text
    return text.replace("(", " ").replace(")", " ").strip()


def _values(text: str) -> list[tuple[int, int, float, bool]]:
    """Where each number is, and whether it is an integer, which counts only after `:`, `=` or `is`."""
    ratios = list(_RATIO.finditer(text))
    found = [(one.start(), one.end(), share, True) for one in ratios if (share := _share(one)) is not None]
    for one in _VALUE.finditer(text):
        if not any(ratio.start() <= one.start() < ratio.end() for ratio in ratios):
            number = one["value"]
            found.append((one.start(), one.end(), float(number), number.lstrip("+-").isdigit()))
    return sorted(found)


def _share(found: re.Match[str]) -> float | None:
    part, whole, percent = int(found[1]), int(found[2]), found[3]
    if not whole or part > whole:
        return None
    return 100 * part / whole if percent is not None else part / whole
