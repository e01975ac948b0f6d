"""Whether a name suggests a secret: `hf_token` does, `token_count` does not, `key` does if its value looks like one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Verdict = Literal["password", "yes", "token", "maybe", "no"]
"""From "any text is a secret" to "none is": a password can be any word; a key has no spaces; a token has a digit or is
long; "maybe" requires a value that looks random."""

HINTS = (
    "pass", "pwd", "secret", "token", "key", "auth", "cred", "cookie", "session", "sess_", "jwt", "sig", "_pat", "otp",
    "salt", "_psk", "webhook", "-u ", "--user",
)  # fmt: skip
"""Every name that can get a verdict contains one of these, in lower case."""

_PASSWORDS = {"password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets", "passcode", "psk"}
_STRONG = {
    "accesskey", "accountkey", "apikey", "appkey", "authkey", "authtoken", "accesstoken", "bottoken", "cookie",
    "cookies", "credential", "credentials", "cred", "creds", "jwt", "keyfiledata", "otp", "privatekey", "secretkey",
    "sessionid", "sharedaccesskey", "sharedkey", "signingkey", "sshkey", "totp",
}  # fmt: skip
_ENDINGS = ("password", "passwd", "passphrase", "secret", "passcode", "pwd")
_KEY_OWNERS = {
    "access", "account", "admin", "anthropic", "api", "app", "auth", "aws", "azure", "client", "comet", "consumer",
    "customer", "decryption", "deploy", "encryption", "gcp", "google", "gpg", "hf", "host", "huggingface", "license",
    "master", "neptune", "openai", "pgp", "private", "rsa", "s3", "secret", "sendgrid", "service", "session", "shared",
    "signing", "ssh", "storage", "stripe", "subscription", "wandb",
}  # fmt: skip
_SPECIAL_TOKENS = {
    "additional", "audio", "begin", "blank", "bos", "class", "cls", "decoder", "end", "eos", "eot", "fake", "first",
    "image", "last", "mask", "newline", "next", "pad", "padding", "per", "placeholder", "prefix", "registers", "sep",
    "separator", "space", "special", "start", "stop", "text", "unk", "unknown", "video",
}  # fmt: skip
_SETTINGS = {
    "algorithm", "backend", "budget", "chars", "class", "classifier", "column", "count", "counts", "default", "dim",
    "drop", "dropout", "dtype", "emb", "embedding", "embeddings", "enabled", "encoding", "endpoint", "env", "error",
    "exists", "expired", "expires", "expiry", "field", "file", "filename", "files", "folder", "format", "func",
    "function", "getter", "handler", "help", "host", "idx", "index", "input", "invalid", "is", "kind", "label", "len",
    "length", "level", "limit", "list", "loader", "manager", "map", "max", "merging", "message", "method", "min",
    "mixer", "mixing", "mode", "name", "names", "num", "params", "parser", "path", "pattern", "policy", "pooling",
    "prefix", "prob", "prompt", "provider", "rate", "ratio", "regex", "required", "reset", "rotation", "scheme",
    "shape", "shift", "size", "store", "strength", "suffix", "template", "timeout", "ttl", "type", "types", "uri",
    "url", "usage", "var", "variable", "version", "words",
}  # fmt: skip
_TOKEN_NUMBERS = {"id", "ids", "mask"}
_PASS_OWNERS = {"db", "smtp", "mysql", "pg", "ftp", "email", "mail", "user", "admin", "root", "redis", "login", "proxy"}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> Verdict:
    """How to judge text under this name.

    >>> [is_secret_name(name) for name in ("db_password", "OPENAI_API_KEY", "hf_token", "key", "token_count")]
    ['password', 'yes', 'token', 'maybe', 'no']
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if len(words) > 1 and words[-1] in _SETTINGS:
        return "no"
    squashed = "".join(words)
    if squashed in _PASSWORDS or squashed in _STRONG:
        return "password" if squashed in _PASSWORDS else "yes"
    best: Verdict = "no"
    for at, word in enumerate(words):
        found = _verdict(word, words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else "")
        if _ORDER.index(found) < _ORDER.index(best):
            best = found
    return best


_ORDER: tuple[Verdict, ...] = ("password", "yes", "token", "maybe", "no")


def _pass_verdict(before: str, after: str) -> Verdict:
    if after:
        return "no"
    if before in _PASS_OWNERS:
        return "password"
    return "no" if before else "token"


def _verdict(word: str, before: str, after: str) -> Verdict:
    if after in _SETTINGS:
        return "no"
    if word in _PASSWORDS or word.endswith(_ENDINGS):
        return "password"
    if word in _STRONG:
        return "yes"
    if word == "pass":
        return _pass_verdict(before, after)
    if word == "token":
        return "no" if before in _SPECIAL_TOKENS or after in _TOKEN_NUMBERS else "token"
    if word == "key":
        return "yes" if before in _KEY_OWNERS else "no" if after else "maybe"
    return _weak_verdict(word, after)


def _weak_verdict(word: str, after: str) -> Verdict:
    if word in ("auth", "authorization", "oauth", "bearer"):
        return "token"
    if word == "session":
        return "yes" if after in ("id", "key", "token", "cookie") else "no" if after else "maybe"
    if word in ("sig", "signature", "pat", "salt", "webhook"):
        return "no" if after else "maybe"
    return "maybe" if word.endswith(("token", "apikey")) else "no"
