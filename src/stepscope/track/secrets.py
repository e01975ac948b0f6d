"""Keep secrets out of the run folder: by the name they stand under, by their shape, and by having been seen before.

Everything Stepscope writes about a run's surroundings (arguments, environment, config, git diff, console, notes,
tracebacks) passes through here before it reaches the disk. Only text is ever masked: a number under `token_dim` or
`max_tokens` is a setting, not a secret.

>>> mask_value("hf_token", "hf_abcdefghijklmnop")
'***'
>>> mask_value("pad_token", "<pad>")
'<pad>'
>>> mask_argv(["train.py", "--api-key", "s3cr3t", "--lr=0.1"])
['train.py', '--api-key', '***', '--lr=0.1']
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

__all__ = ["MASK", "is_secret_name", "learn", "learn_from", "mask_argv", "mask_shapes", "mask_text", "mask_value"]

MASK = "***"
CHUNK = 16 << 10

_STRONG = {
    "accesskey", "apikey", "authkey", "authtoken", "accesstoken", "cookie", "cookies", "credential", "credentials",
    "cred", "creds", "passphrase", "passwd", "password", "passwords", "privatekey", "pwd", "secret", "secretkey",
    "secrets", "sessionid", "sshkey",
}  # fmt: skip
_KEY_OWNERS = {
    "access", "account", "admin", "anthropic", "api", "app", "auth", "aws", "azure", "client", "comet", "consumer",
    "customer", "decryption", "deploy", "encryption", "gcp", "google", "gpg", "hf", "host", "huggingface", "license",
    "master", "neptune", "openai", "pgp", "private", "rsa", "s3", "secret", "service", "session", "shared", "signing",
    "ssh", "storage", "stripe", "wandb",
}  # fmt: skip
_SPECIAL_TOKENS = {
    "additional", "audio", "begin", "blank", "bos", "class", "cls", "decoder", "end", "eos", "eot", "fake", "image",
    "mask", "newline", "next", "pad", "padding", "per", "placeholder", "prefix", "registers", "sep", "separator",
    "space", "special", "start", "stop", "text", "unk", "unknown", "video",
}  # fmt: skip
_TOKEN_SETTINGS = {
    "budget", "classifier", "count", "counts", "dim", "dropout", "drop", "embedding", "embeddings", "emb", "id", "ids",
    "index", "len", "length", "level", "limit", "list", "map", "mask", "merging", "mixer", "mixing", "mode", "num",
    "pooling", "prob", "rate", "ratio", "shift", "size", "type", "types",
}  # fmt: skip
_AUTH_SETTINGS = {"backend", "class", "enabled", "endpoint", "host", "method", "mode", "provider", "type", "url"}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_SHAPES = re.compile(
    r"""
    (?P<pem>-----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z))
    | (?P<url>(?<=://)[^\s/:@'"<>]*:[^\s/@'"<>]+(?=@)|(?<=://)[^\s/:@'"<>]{16,}(?=@))
    | (?P<header>(?i:\b(?:bearer|basic)[ ]+)(?P<headervalue>[A-Za-z0-9._~+/=-]{12,}))
    | (?<![A-Za-z0-9])(?:
        (?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{16,} | api_org_[A-Za-z0-9]{16,}
      | sk-[A-Za-z0-9_-]{16,} | sk_(?:live|test)_[A-Za-z0-9]{16,} | rk_live_[A-Za-z0-9]{16,}
      | xox[abeoprs]-[A-Za-z0-9-]{10,} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,}
      | pypi-[A-Za-z0-9_-]{32,} | npm_[A-Za-z0-9]{30,} | dckr_pat_[A-Za-z0-9_-]{20,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    )
    """,
    re.VERBOSE,
)
_HINTS = re.compile(r"key|token|secret|pass|pwd|auth|cred|cookie|session|bearer", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,200})(?P<between>["']?\s{0,9}(?:=>|=|:)\s{0,9})
        (?:(?P<quote>["'])(?P<quoted>(?:(?!(?P=quote))[^\\\n]|\\.){1,9999})
          |(?P<bare>[^\s"',;(){}\[\]<>&]+)(?P<after>\(?))""",
    re.VERBOSE,
)
_FLAG = re.compile(r"(?<![\w-])(?P<name>--?[A-Za-z][\w.-]{0,200})(?P<between>[ ]{1,9})(?P<bare>[^\s-][^\s]*)")

MOST_OVERHEARD = 256
"""Secrets seen in passing (in a diff, on the console) are remembered up to this many, the newest: a search for each of
thousands would cost the training its time."""

_known: dict[str, None] = {}
_overheard: dict[str, None] = {}
_longest_first: tuple[str, ...] = ()


def learn(value: str, in_passing: bool = False) -> None:
    """Remember a secret's value, so that it is masked wherever it turns up later."""
    global _longest_first
    if len(value) < 8 or value in _known or not re.search(r"[A-Za-z]", value) or not re.search(r"[^A-Za-z\s]", value):
        return  # a plain word or number would blank out half the console
    if in_passing:
        _overheard[value] = None
        for old in list(_overheard)[:-MOST_OVERHEARD]:
            _overheard.pop(old, None)
    else:
        _known[value] = None
    _longest_first = tuple(sorted({*list(_known), *list(_overheard)}, key=len, reverse=True))


def learn_from(variables: Mapping[str, str]) -> None:
    """Remember the secrets among environment variables."""
    for name, value in variables.items():
        if _hides(name, value):
            learn(value)


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> Literal["yes", "maybe", "no"]:
    """Does text under this name hold a secret? "maybe": only if the text looks like one."""
    words = [word.lower() for word in _WORDS.findall(name)]
    verdict: Literal["yes", "maybe", "no"] = "no"
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        found = _verdict(word, before, after)
        if found == "yes":
            return "yes"
        verdict = "maybe" if found == "maybe" else verdict
    squashed = "".join(words)
    return "yes" if squashed in _STRONG else verdict


def _verdict(word: str, before: str, after: str) -> Literal["yes", "maybe", "no"]:
    if word in _STRONG:
        return "yes"
    if word == "token":
        return "no" if before in _SPECIAL_TOKENS or after in _TOKEN_SETTINGS else "yes"
    if word == "key":
        return "yes" if before in _KEY_OWNERS else "no" if after else "maybe"
    if word in ("auth", "authorization", "oauth", "bearer"):
        return "no" if after in _AUTH_SETTINGS else "yes"
    if word == "session":
        return "yes" if after in ("id", "key", "token", "cookie") else "no" if after else "maybe"
    return "maybe" if word in ("api", "pat") and not after else "no"


def _is_opaque(text: str) -> bool:
    """Long, unbroken, letters mixed with digits: no word of a language, no path, no number."""
    return (
        len(text) >= 16
        and not re.search(r"[\s/\\()\[\]{}<>,;]", text)
        and any(letter.isdigit() for letter in text)
        and any(letter.isalpha() for letter in text)
    )


def _is_place(name: str, value: str) -> bool:
    """A folder or file under a name that sounds secret: PWD, SSH_AUTH_SOCK, credentials=/home/me/key.json."""
    return os.path.isabs(value) and (name.upper() in ("PWD", "OLDPWD") or os.path.exists(value))


def _hides(name: str, value: str) -> bool:
    verdict = is_secret_name(name)
    if verdict == "no" or not value or _is_place(name, value):
        return False
    return verdict == "yes" or _is_opaque(value)


def mask_value(name: str, value: Any) -> Any:
    """The value as it may be written: masked whole under a secret name, else in its secret-shaped parts."""
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode("utf-8", "replace")
    if not isinstance(value, str):
        return value
    if _hides(name, value):
        learn(value)
        return MASK
    return mask_shapes(value)


def mask_argv(arguments: Iterable[str]) -> list[str]:
    """A command line without its secrets: `--token X`, `--token=X`, `TOKEN=X`."""
    shown: list[str] = []
    flag = ""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if flag in ("-c", "-e"):  # code, not an argument
            shown.append(mask_text(argument))
            flag = ""
        elif equals and re.fullmatch(r"[\w.+/@-]*", name):
            shown.append(f"{name}={mask_value(name, value)}")
            flag = ""
        elif argument.startswith("-") and not flag_takes(flag, argument):
            shown.append(mask_shapes(argument))
            flag = argument
        else:
            shown.append(mask_value(flag, argument) if flag else mask_shapes(argument))
            flag = ""
    return shown


def flag_takes(flag: str, argument: str) -> bool:
    """Is a word that begins with a dash still the value of the secret flag before it (`--password -x9!`)?"""
    return bool(flag) and is_secret_name(flag) == "yes" and not argument.startswith("--")


def mask_shapes(text: str) -> str:
    """Mask what is a secret wherever it stands: well-known key shapes, URL passwords, values learnt before."""
    for secret in _longest_first:  # one by one: to compile a pattern of all of them takes as long as many searches
        if secret in text:
            text = text.replace(secret, MASK)
    return _SHAPES.sub(_blank, text) if len(text) >= 8 else text


def _blank(match: re.Match[str]) -> str:
    if match.lastgroup == "url":
        user, colon, _password = match.group().partition(":")
        return f"{user}:{MASK}" if colon else MASK
    if match.group("header"):
        return match.group().replace(match.group("headervalue"), MASK)
    return MASK


def mask_text(text: str) -> str:
    """Free text (console, diff, notes, traceback) without its secrets: shapes, and `password = "..."` by name."""
    if len(text) <= CHUNK:
        return _mask_chunk(text)
    # Piece by piece: a search holds the interpreter's lock, and half a second of that would stop the training.
    if "PRIVATE KEY" in text:
        text = _SHAPES.sub(_blank, text)  # a key block may lie across pieces
    return "".join(_mask_chunk(piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """The text cut at line ends into pieces of about 16 KiB."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + CHUNK) + 1 or len(text)
        yield text[start:end]
        start = end


def _mask_chunk(text: str) -> str:
    text = mask_shapes(text)
    if _HINTS.search(text):
        text = _FLAG.sub(_blank_assigned, _ASSIGNED.sub(_blank_assigned, text))
    return text


def _blank_assigned(match: re.Match[str]) -> str:
    fields = match.groupdict()
    name, quoted, bare = fields["name"], fields.get("quoted"), fields["bare"]
    value: str = quoted or bare or ""
    if value.startswith(MASK) or is_secret_name(name) == "no" or not _is_literal(name, value, bool(quoted), fields):
        return match.group()
    learn(value, in_passing=True)
    start, end = match.span("quoted" if quoted else "bare")
    return match.group()[: start - match.start()] + MASK + match.group()[end - match.start() :]


def _is_literal(name: str, value: str, quoted: bool, fields: Mapping[str, str | None]) -> bool:
    """Is an assigned value the secret itself, not code that fetches it (`token = os.environ[...]`, `key: str`)?"""
    if is_secret_name(name) == "maybe" or (not quoted and ":" in (fields["between"] or "")):
        return _is_opaque(value)
    if quoted:
        return len(value) >= 3
    is_code = bool(fields.get("after")) or re.fullmatch(r"[A-Za-z_]+(\.[A-Za-z_]+)*", value) is not None
    return not is_code and len(value) >= 4
