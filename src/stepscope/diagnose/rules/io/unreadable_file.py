from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_LFS = r"could not find mark|invalid load key, 'v'|weights only load failed.*(unsupported operand|invalid load key)"
_SIGNS = (
    (r"ran out of input|unexpected eof|eoferror", "the file is empty or was truncated while it was written",
     "write it again; to be safe write to a temporary name and rename it when it is complete"),
    (r"failed finding central directory|pytorchstreamreader|file in archive is not in a subdirectory",
     "this is not a complete checkpoint: the file was truncated, or was not written by torch.save",
     "download or save it again, and compare its size"),
    (_LFS, "the file does not contain the data: often it is a Git LFS pointer or an error page",
     "look at its first bytes (head -c 100 FILE); for Git LFS run `git lfs pull`"),
    (r"invalid load key|unpicklingerror|pickle data was truncated", "the file is not a pickle, or it is damaged",
     "open it with the right function for its format, or write it again"),
    (r"codec can't decode", "the file is not UTF-8 text",
     "open it as binary (open(path, 'rb')), or give its encoding: open(path, encoding=...)"),
    (r"expecting property name enclosed in double quotes", "the file is not valid JSON: JSON needs double quotes",
     "write \"key\": value, with double quotes and without a comma after the last entry; json.dump writes it right"),
    (r"expecting value: line 1 column 1", "the file is not JSON: it is empty or starts with something else",
     "look at its first line; one object per line (JSONL) needs json.loads for each line"),
    (r"extra data: line", "the file contains several JSON values",
     "read it line by line: [json.loads(line) for line in file]"),
    (r"expecting (',' delimiter|value|':' delimiter)|unterminated string", "the file is not valid JSON",
     "correct the position named in the message"),
    (r"while (parsing|scanning)|mapping values are not allowed|found character '\\t'", "the file is not valid YAML",
     "correct the position named in the message: indent with spaces, a space after each colon"),
    (r"cannot identify image file|image file is truncated", "the file is not an image, or is damaged",
     "exclude files that are not images, and download damaged ones again"),
)  # fmt: skip


@rule("io.unreadable-file", severity="error", needs="crash", follows=("io.no-file", "io.weights-only"))
def unreadable_file(run: Evidence) -> Iterator[Proof]:
    """A file does not contain what the line that reads it expects: it is empty, truncated or in another format.

    Why it matters: the messages of pickle, zip and JSON readers name bytes and columns, not the reason.

    What to do: look at the file's size and first bytes. A text of three lines beginning with `version
    https://git-lfs` is a pointer, not the data.

    Bad:
        state = torch.load("weights.pt")                 # the download stopped half way
    Good:
        state = torch.load("weights.pt")                 # with the size that the page says
    """
    crash = run.crash
    if crash is None or crash.last is None:
        return
    kinds = (
        "EOFError",
        "UnpicklingError",
        "JSONDecodeError",
        "UnicodeDecodeError",
        "YAMLError",
        "RuntimeError",
        "OSError",
        "UnidentifiedImageError",
    )
    if not crash.is_a(*kinds):
        return
    said = f"{crash.type.lower()}: {' '.join(crash.message.split())}"
    for sign, meaning, fix in _SIGNS:
        if re.search(sign, said):
            told = crash.text.strip().partition("\n")[0][:160] or crash.type
            yield Proof(
                where=crash.site,
                message=meaning,
                label=told,
                evidence={"error": crash.type, "said": told},
                fix=fix,
            )
            return
