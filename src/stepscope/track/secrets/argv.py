"""Command lines without their secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stepscope.track.secrets.names import is_secret_name
from stepscope.track.secrets.structures import mask_value
from stepscope.track.secrets.text import MASK, mask_text

_CODE_FLAGS = ("-c", "-e")


def mask_argv(arguments: Iterable[str]) -> list[str]:
    """A command line without its secrets: `--token X`, `--token=X`, `TOKEN=X`, `-u me:X`, JSON, URLs.

    >>> mask_argv(["train.py", "--api-key", "s3cr3t", "--lr=0.1"])
    ['train.py', '--api-key', '***', '--lr=0.1']
    """
    shown: list[str] = []
    flag = ""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if flag in _CODE_FLAGS:
            shown.append(mask_text(argument))
            flag = ""
        elif equals and re.fullmatch(r"[\w.+/@-]*", name):
            shown.append(f"{name}={mask_value(name, value)}")
            flag = ""
        elif argument.startswith("-") and not _takes(flag, argument):
            shown.append(mask_text(argument))
            flag = argument
        else:
            shown.append(_argument(flag, argument))
            flag = ""
    return shown


def _takes(flag: str, argument: str) -> bool:
    """Whether a word that begins with a dash is still the value of the secret flag before it (`--password -x9!`)."""
    return bool(flag) and is_secret_name(flag) not in ("no", "maybe") and not argument.startswith("--")


def _argument(flag: str, argument: str) -> str:
    user, colon, password = argument.partition(":")
    if flag in ("-u", "--user") and colon and password and not password.isdigit():
        return f"{user}:{MASK}"
    return str(mask_value(flag, argument)) if flag else mask_text(argument)
