"""Whether a value under a suspicious name is the secret itself, or a reference, a setting, a type, a piece of code."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from typing import Literal

from stepscope.track.secrets.names import Verdict, is_secret_name

Style = Literal["quoted", "equals", "colon", "line", "flag", "space", "tag", "pair"]
"""How a value is attached to its name: `x = "v"`, `x=v`, `x: v`, `x: v` alone on its line, `--x v`, `x v`, `<x>v<`,
`("x", "v")`."""

_REFERENCE = re.compile(
    r"""\$?\{\{?\s*(?:[A-Za-z_][\w.]*)?(?:[}(\[!:]|$) | \$[A-Z_][A-Z0-9_]*[.,`]?$ | \$\( | %\(\w+\)[sdr] | %\w+%$
      | (?:%[sdrx]|\{\d*\}|[:/@ ])+$ | <[\w/|. -]*>?[.,]?$ | \[[\w/|. -]*\]?$ | \*{3} | \.{3} | …| [xX]{3,}$
      | !vault | !ENV | !secret | ENC\[ | op:// | vault: | [a-z][a-z0-9+]{1,15}://
      | (?:self|args|cfg|config|opts?|os|settings|env|process|secrets|params|kwargs|context|request|parser)[.\[]""",
    re.VERBOSE,
)
_KEYWORDS = {
    "none", "null", "nil", "true", "false", "yes", "no", "on", "off", "str", "string", "int", "integer", "bytes",
    "bool", "boolean", "float", "number", "any", "object", "optional", "required", "unset", "missing", "redacted",
    "masked", "hidden", "empty", "default", "disabled", "enabled", "invalid", "expired", "unknown", "undefined",
    "changed", "incorrect", "wrong", "accepted", "rejected", "prompt", "dict", "list", "tuple", "self", "auto",
    "lambda", "type", "iterator", "callable", "session", "basic", "digest", "bearer", "kerberos", "ntlm", "netrc",
    "failed", "authentication",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z]+\d?(?:[._-][A-Za-z]+)+$")
_STRUCTURED = re.compile(r"(?:[A-Za-z]+\d{0,6}|\d+)(?:[._-](?:[A-Za-z]+\d{0,6}|\d+))+$")
_WORD = re.compile(r"[A-Za-z_]+$")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.?$")
_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[]|[(\[][A-Za-z_\"']|\{[\"'*]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|\w+\]|lambda\b|-?\d+\.\d*(?:e-?\d+)?$"
)
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[.,`]?$|[A-Z]{3,}[.,`]?$")
_PROSE = re.compile(
    r"(?s)(?=.*\s).*\b(?:the|an?|to|is|are|your|for|of|must|be|in|not|with|and|or|enter|please|no|on|from|when|if)\b",
    re.I,
)


def is_secret_value(name: str, value: str, verdict: Verdict, style: Style) -> bool:
    """Whether to mask the text."""
    if verdict == "no" or not value or is_harmless(name, value):
        return False
    if verdict == "maybe":
        return is_opaque(value) and not _CODE.match(value)
    if style in ("quoted", "tag"):
        return _quoted(value, verdict)
    if style == "space" and "=" in value.rstrip("="):
        return False
    if _CODE.match(value):
        return is_opaque(value) and entropy(value) >= 4.5
    return is_opaque(value) or _unquoted(value, verdict, style)


def _unquoted(value: str, verdict: Verdict, style: Style) -> bool:
    """A value without quotes that does not look random: its length and letters decide."""
    if style in ("space", "pair"):
        return verdict == "password" and len(value) >= 6 and _is_mixed(value)
    if value.lstrip("+-").isdigit():
        return len(value) >= {"password": 4, "yes": 6}.get(verdict, 8) and style != "colon"
    if _WORD.match(value):
        return _word(value, verdict, style)
    return _bare(value, verdict, style)


def is_harmless(name: str, value: str) -> bool:
    """A reference to a secret (`$TOKEN`, `{token}`, `args.token`), a type, a keyword, a path: never the secret."""
    low = value.lower().strip("'\" )")
    return (
        low in _KEYWORDS
        or low.rstrip(":") == name.rpartition(".")[2].lower()
        or _REFERENCE.match(value) is not None
        or _CONSTANT.match(value) is not None
        or _is_name(value)
        or is_place(name, value)
    )


def _is_name(value: str) -> bool:
    """`"secret-access-key": "aws_secret_access_key"` names a secret but is not one."""
    return _NAME.match(value) is not None and is_secret_name(value) not in ("no", "maybe")


def _quoted(value: str, verdict: Verdict) -> bool:
    if len(value) < 3 or _PROSE.match(value):
        return False
    if verdict == "password":
        return True
    if " " in value or _CODE.match(value):
        return False
    has_digits = any(map(str.isdigit, value))
    if verdict == "yes":
        return has_digits or len(value) >= 12 or not _DOTTED.match(value)
    if has_digits and len(value) >= 4 and (value.isdigit() or any(map(str.isalpha, value))):
        return True
    is_mixed_case = not (value.islower() or value.isupper())
    return len(value) >= 20 and value.isalpha() and is_mixed_case


def _word(value: str, verdict: Verdict, style: Style) -> bool:
    """A value of letters only is more often a variable or a word than a password; the context decides."""
    if verdict != "password" or style not in ("equals", "line"):
        return False
    low = value.lower()
    return len(value) >= 5 and "_" not in value and not any(part in low for part in ("pass", "pwd", "secret", "token"))


def _bare(value: str, verdict: Verdict, style: Style) -> bool:
    if not any(letter.isalpha() for letter in value):
        return False
    if verdict == "password":
        return len(value) >= 4
    digits = any(letter.isdigit() for letter in value)
    if style in ("colon", "line"):
        return digits and len(value) >= 8
    return len(value) >= 4 and (digits or not _DOTTED.match(value))


def _is_mixed(value: str) -> bool:
    """Letters and something else that is not the end of a sentence."""
    core = value.rstrip(".,;:!?)")
    return any(letter.isalpha() for letter in core) and not re.search(r"[/=]", core) and any(map(str.isdigit, core))


def is_opaque(text: str) -> bool:
    """Long, unbroken, letters mixed with digits: not a word, a path or a number.

    >>> [is_opaque(text) for text in ("3f786850e387550fdab836ed", "/data/imagenet/v2/train", "bert-base-uncased")]
    [True, False, False]
    """
    if len(text) < 16 or not any(map(str.isdigit, text)) or not any(map(str.isalpha, text)):
        return False
    if re.search(r"[\s\\()\[\]{}<>,;]|://", text):
        return False
    if _STRUCTURED.match(text):
        return False
    return "/" not in text or (text[0] not in ".~" and text.count("/") <= 4 and entropy(text) >= 4.2)


def entropy(text: str) -> float:
    """Bits per character: English words have about 3, random base64 of 40 characters about 5."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())


def is_place(name: str, value: str) -> bool:
    """A folder or file under a name that sounds secret: PWD, SSH_AUTH_SOCK, credentials=/home/me/key.json."""
    return os.path.isabs(value) and (name.upper() in ("PWD", "OLDPWD") or os.path.exists(value))
