"""Secrets recognizable by their own shape: keys with a prefix, JWTs, URL passwords, key blocks.

Each shape has a literal prefix, so that a text without any costs one search per prefix in its long words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

Span = tuple[int, int]
LONG_WORD = 16
"""Every shape but those with spaces or `://` is part of a word of at least this length."""
PEM_BEGIN = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")
PEM_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")

_B = r"[A-Za-z0-9_-]"  # base64url
_A = r"[A-Za-z0-9]"


class Shape(NamedTuple):
    start: str
    rest: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a text first has the prefix: compiling all hundred takes 12 ms."""
        return _compiled(self)


@cache
def _compiled(shape: Shape) -> re.Pattern[str]:
    start = re.escape(shape.start)
    return re.compile(start + _not_inside(start) + shape.rest)


def _shapes(rest: str, *starts: str) -> list[Shape]:
    return [Shape(start, rest) for start in starts]


def _not_inside(start: str) -> str:
    """No letter before the prefix; in `\\nghp_…` (from repr) and `%3Dghp_…` (from a URL) n and D do not count."""
    return rf"(?:(?<!\w{start})|(?<=\\[nrt]{start})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{start}))"


SHAPES: list[Shape] = [
    *_shapes(r"[A-Z0-9]{16}(?![A-Z0-9])", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ABIA", "ACCA"),
    *_shapes(r"[A-Za-z0-9+/=]{40,}", "FwoGZXIvYXdz", "IQoJb3JpZ2lu", "ABSK"),  # AWS session tokens, Bedrock
    *_shapes(rf"{_B}{{30,}}", "AIza", "1//0"),
    *_shapes(rf"{_B}{{20,}}", "ya29.", "GOCSPX-"),
    *_shapes(rf"{_A}{{20,}}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *_shapes(r"[A-Za-z0-9_]{20,}", "github_pat_"),
    *_shapes(rf"{_B}{{16,}}", "glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glcbt-", "glsa_", "glc_"),
    *_shapes(rf"{_A}{{16,}}", "hf_", "api_org_"),
    *_shapes(r"[A-Za-z0-9_]{40,}", "wandb_v1_"),
    *_shapes(rf"{_B}{{16,}}", "sk-", "pk-lf-", "csk-"),  # OpenAI, Anthropic, DeepSeek, OpenRouter, Langfuse, Cerebras
    *_shapes(rf"{_A}{{16,}}", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
    *_shapes(rf"{_A}{{20,}}", "gsk_", "r8_", "pplx-", "fw_", "rpa_", "tgp_v1_", "xai-"),
    *_shapes(rf"{_B}{{20,}}", "nvapi-", "lsv2_pt_", "lsv2_sk_", "pcsk_", "sb_secret_", "sbp_", "ntn_", "lin_api_"),
    *_shapes(r"[A-Za-z0-9-]{10,}", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
    *_shapes(r"/[A-Za-z0-9/_-]{12,}", "hooks.slack.com/services", "hooks.slack.com/workflows",
             "hooks.slack.com/triggers", "discord.com/api/webhooks", "discordapp.com/api/webhooks",
             "hooks.zapier.com/hooks/catch", "webhook.office.com/webhookb2"),
    *_shapes(rf"{_B}{{16,}}\.{_B}{{16,}}", "SG."),
    *_shapes(r"[0-9a-f]{32}(?![0-9a-f])", "SK", "dapi", "key-"),  # Twilio, Databricks, Mailgun
    *_shapes(rf"{_B}{{30,}}", "pypi-", "npm_", "rubygems_", "dckr_pat_", "dckr_oat_", "sntrys_", "sntryu_"),
    *_shapes(r"[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_shapes(r"[0-9a-fA-F]{32}", "shpat_", "shpss_", "shpca_", "shppa_"),
    *_shapes(rf"{_B}{{20,}}", "hvs.", "hvb.", "dp.pt.", "dp.st.", "tskey-", "PMAK-", "HRKU-", "pscale_tkn_", "figd_"),
    *_shapes(r"[A-Z0-9]{50,}", "AGE-SECRET-KEY-1"),
    *_shapes(rf"{_B}{{8,}}(?:\.{_B}{{8,}}){{1,4}}\.?", "eyJ"),
]  # fmt: skip
# These have no prefix; search for a rare part instead.
_FREE = r"(?:(?<![\w~-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
_DISCORD_FREE = r"(?:(?<![\w-][MNO])|(?<=\\[nrt][MNO])|(?<=%[0-9A-Fa-f]{2}[MNO]))"
_AROUND = [
    (":AA", re.compile(rf"{_FREE}\d{{8,12}}:AA{_B}{{30,36}}(?!{_B})")),  # Telegram
    ("Q~", re.compile(rf"{_FREE}[\w.~-]{{3}}\dQ~[\w.~-]{{31,34}}(?![\w~-])")),  # Azure client secrets
    (".", re.compile(rf"[MNO]{_DISCORD_FREE}{_B}{{22,27}}\.{_B}{{6,7}}\.{_B}{{27,40}}(?!{_B})")),  # Discord
]
_AZURE_KEY = re.compile(r"[A-Za-z0-9+/]{86}==")
_URL_USER = re.compile(r"://(?P<user>[^\s/:@'\"<>?#]{0,256})(?::(?P<password>[^\s/'\"<>]{1,256}))?@(?=[\w\[{])")
_LOOSE_DSN = re.compile(r":(?P<password>[^\s:@/'\"]{3,80})@(?:(?:tcp|unix)\(|[\w-]{1,60}(?:\.[\w-]{1,60}){0,6}:\d)")
_USER_BEFORE = re.compile(r"(?:^|[^\w/@:.-])[\w.-]{1,60}$")
_SCHEME = re.compile(r"(?i:\b(?:bearer|basic)[ ]+)(?P<value>[A-Za-z0-9._~+/=-]{12,})")


def _likely(long_words: str) -> list[re.Pattern[str]]:
    """The patterns that may match, by the rare letters each needs."""
    patterns = [shape.pattern for shape in SHAPES if shape.start in long_words and shape.pattern.search(long_words)]
    return patterns + [pattern for rare, pattern in _AROUND if rare in long_words]


def shape_spans(text: str, long_words: str) -> Iterator[Span]:
    """The secrets of a known shape. `long_words` has the text's words of at least `LONG_WORD` characters."""
    if "PRIVATE KEY" in text:
        yield from _key_blocks(text)
    if "@" in text:
        yield from _in_addresses(text)
    if not long_words and " " not in text:
        return
    for pattern in _likely(long_words):
        yield from (match.span() for match in pattern.finditer(text))
    if "==" in long_words:
        yield from _azure_keys(text)
    if any(word in text for word in ("earer ", "asic ", "EARER ", "ASIC ")):
        yield from (match.span("value") for match in _SCHEME.finditer(text) if _is_credential(match["value"]))


def _azure_keys(text: str) -> Iterator[Span]:
    """88 characters of base64; a sha512 looks the same, but is labeled."""
    end = text.find("==")
    while end >= 0:
        start = end - 86
        if start >= 0 and _AZURE_KEY.match(text, start) and text[max(0, start - 7) : start] != "sha512-":
            yield start, end + 2
        end = text.find("==", end + 2)


def _key_blocks(text: str) -> Iterator[Span]:
    for begin in PEM_BEGIN.finditer(text):
        end = PEM_END.search(text, begin.end())
        yield begin.start(), end.end() if end else len(text)


def _in_addresses(text: str) -> Iterator[Span]:
    if "://" in text:
        for match in _URL_USER.finditer(text):
            part = "password" if match["password"] is not None else "user"
            if part == "password" or len(match["user"]) >= 16:
                yield from _unless_reference(match, part)
    for match in _LOOSE_DSN.finditer(text):
        is_user = _USER_BEFORE.search(text, max(0, match.start() - 61), match.start())
        if is_user and not match["password"].isdigit():
            yield from _unless_reference(match, "password")


def _unless_reference(match: re.Match[str], part: str) -> Iterator[Span]:
    if not re.match(r"\$?\{|\$[A-Z_]|<|%|\*{3}|\.{3}|…", match[part] or ""):
        yield match.span(part)


def _is_credential(value: str) -> bool:
    return any(letter.isdigit() for letter in value) or any(letter in ".~+/=" for letter in value[:-1])
