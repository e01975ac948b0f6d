"""How people name rules: one (`opt.no-zero-grad`), a group (`opt`), some (`opt.no-*`) or `all`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from stepscope.errors import ConfigError

_EVERY = ("all", "*")


def closeness(patterns: Iterable[str], rule: str) -> int:
    """How precisely the best of the patterns names a rule; -1 when none does. An exact id wins over a longer glob.

    >>> [closeness(patterns, "opt.no-zero-grad") for patterns in ((), ["all"], ["opt"], ["opt.no-*"], ["loss"])]
    [-1, 0, 4, 7, -1]
    """
    return max((_closeness(pattern, rule) for pattern in patterns), default=-1)


def _closeness(pattern: str, rule: str) -> int:
    if pattern in _EVERY:
        return 0
    if pattern == rule:
        return 1_000
    if "*" in pattern or "?" in pattern:
        return len(pattern.replace("*", "").replace("?", "")) if fnmatchcase(rule, pattern) else -1
    return len(pattern) + 1 if "." not in pattern and rule.startswith(f"{pattern}.") else -1


def split_patterns(given: Sequence[str]) -> tuple[str, ...]:
    """What was given with one or several options, or with commas in one.

    >>> split_patterns(["opt, loss.nan", "amp"])
    ('opt', 'loss.nan', 'amp')
    """
    return tuple(word for one in given for part in one.split(",") if (word := part.strip()))


def is_pattern(pattern: str) -> bool:
    """Whether a pattern names any rule there is."""
    from stepscope.diagnose.catalogue import rule_docs

    return pattern in _EVERY or any(_closeness(pattern, rule) >= 0 for rule in rule_docs())


def check_patterns(patterns: Iterable[str], where: str) -> None:
    """Refuse a name that is not a rule: a rule silenced under a wrong name would keep reporting for no reason."""
    for pattern in patterns:
        if not is_pattern(pattern):
            from stepscope.diagnose.catalogue import hint

            raise ConfigError(f"{where}: there is no rule or group of rules '{pattern}'; {hint(pattern)}")
