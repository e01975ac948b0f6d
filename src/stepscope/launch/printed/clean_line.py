"""A printed line without what is not a number of the training: colors, timestamps, log levels, bars, vectors."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|[DIWE](?=\d{4}\b))"
_STAMP = re.compile(
    r"\[?\b\d{2,4}[-/]\d\d[-/]\d{2,4}[ T,]+\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|\[?\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b\]?"
)
_LOGGED = re.compile(
    rf"^[\s\[(|:-]*(?:\[?{_LEVEL}\]?)(?:\s*[:|-]\s*|\s+)(?:[\w.]+(?:[:.]\w+)*(?::\d+)?\s*[:|-]\s+|root:)?"
)
_NAMED_LOGGER = re.compile(rf"^[\s-]*(?:[\w.]+\s+-\s+{_LEVEL}\s+-\s+|\[[\w.]+\]\s*\[{_LEVEL}\]\s*(?:-\s+)?)")
"""`trainer - INFO - ...`, and Hydra's `[__main__][INFO] - ...`."""
_LABELED_TIME = re.compile(r"\b[A-Za-z_]\w*\s*[:=]\s*(?:\d+ days?,\s*)?\d+:\d\d:\d\d(?:\.\d+)?(?![\w.:])")
"""`eta: 0:00:01`: how long it takes is not a number of the training, and its label names nothing after it."""
_TQDM = re.compile(r"^(?P<what>[^|]*?):?\s*\d+%\s*\|[^|]*\|\s*\d[\d.]*[kMG]?/\d[\d.]*[kMG]?\s*\[(?P<rest>[^\]]*)\]?")
_TQDM_WITHOUT_END = re.compile(r"^(?P<what>[^|\[]*?):?\s*\d+it\s*\[(?P<rest>[^\]]*)\]?")
_RATE = re.compile(r"^.*?(?:it/s|s/it|\?it/s|[a-zA-Z]+/s)(?:,\s*|$)")
_KERAS = re.compile(
    r"^\s*\d+/\d+\s*(?:\[[=>.\s-]*\]|[\u2500-\u257f][\u2500-\u257f\s]*)(?:\s*-?\s*(?:ETA:\s*)?[\d:]+(?:ms|us|s)?)?(?:\s+\d+(?:ms|us|s)/\w+)?"
)
_SCALAR = re.compile(
    r"\b(?:tensor|np\.float\d+|np\.int\d+|array|Array)\(\s*([-+]?[\d.][\d.e+-]*|nan|inf)\s*(?:,[^()]*(?:\([^()]*\))?[^()]*)?\)"
)
_VECTOR = re.compile(
    r"(?:\b\w+\()?[\[(]\s*[-+]?\d[\d.e+-]*(?:\s*[,\s]\s*[-+]?\d[\d.e+-]*)+\s*,?\s*[\])](?:[^()\[\]]*\))?"
)
_JOB_OF_HYDRA = re.compile(r"^[\s\]]*(?:\[HYDRA\]\s*)?#\d+ : ")
"""`[HYDRA] #0 : lr=0.1 epochs=3`: the settings of a job that has not begun."""
_SOURCE_LINE = re.compile(r"[\[(]?\b[\w./-]+\.py:\d+[\])]?:?")
_REFUSED = ("Namespace(", "Traceback", "stepscope:", "Warning:", "http://", "https://", '  File "')
LONGEST = 1000


def cleaned(line: str) -> str:
    """The line to look for numbers in; "" where there can be none.

    >>> cleaned("2026-01-02 03:04:05,678 - trainer - INFO - epoch 1 loss 0.5")
    'epoch 1 loss 0.5'
    >>> cleaned("INFO:root:loss=0.25"), cleaned("loss: tensor(0.5, grad_fn=<NllLossBackward0>)")
    ('loss=0.25', 'loss: 0.5')
    >>> cleaned("Epoch 2:  50%|####     | 5/10 [00:01<00:01, 4.9it/s, loss=0.31]")
    'Epoch 2, loss=0.31'
    >>> cleaned("[2026-01-02 21:31:52,282][__main__][INFO] - mse=0.5"), cleaned("[ 0/10]  eta: 0:00:01  lr: 0.05")
    ('mse=0.5', '[ 0/10]   |   lr: 0.05')
    >>> cleaned("[2026-01-02 21:31:52,282][HYDRA] \\t#0 : lr=0.01 epochs=3")
    ''
    """
    if len(line) > LONGEST or not any(map(str.isdigit, line)) or any(word in line for word in _REFUSED):
        return ""
    line = _ANSI.sub("", line)
    bar = postfix_of_bar(line)
    if bar is not None:
        return bar
    line = without_log_prefix(_LABELED_TIME.sub(" | ", line))
    if _JOB_OF_HYDRA.match(line):
        return ""
    line = _KERAS.sub("", line)
    line = _SCALAR.sub(r"\1", line)
    return _VECTOR.sub(_kept, line).strip()


def without_log_prefix(line: str) -> str:
    """A line without the time, the place, the logger and the level that `logging` puts before it.

    >>> without_log_prefix("2026-01-02 03:04:05,678 INFO trainer - ***** Results *****").strip()
    '***** Results *****'
    """
    line = _STAMP.sub(" ", line, count=1)
    line = _SOURCE_LINE.sub(" ", line, count=1)
    return _LOGGED.sub("", _NAMED_LOGGER.sub("", line))


def _kept(found: re.Match[str]) -> str:
    """Coordinates such as `[1, 2000]` are an epoch and a step; a vector of fractions is not a number."""
    text = found[0]
    return " | " if "." in text else text


def postfix_of_bar(line: str) -> str | None:
    """What a progress bar says beside its progress; None where the line is not one."""
    found = _TQDM.match(line) or _TQDM_WITHOUT_END.match(line)
    if found is None:
        return None
    rest = _RATE.sub("", found["rest"])
    what = found["what"].strip()
    return f"{what}, {rest}" if what and rest else rest or what
