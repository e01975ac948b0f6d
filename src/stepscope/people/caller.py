"""Who makes a request, and what they may do.

A *role* says what a user may do in a project; `*` means every project. A *scope* says what a token may do of that.
Both must allow a thing. A server admin has every role.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from stepscope.errors import UsageError

Scope = Literal["ingest", "read", "write", "admin"]
Role = Literal["viewer", "writer", "admin"]

SCOPES: tuple[Scope, ...] = ("ingest", "read", "write", "admin")
ROLES: tuple[Role, ...] = ("viewer", "writer", "admin")
EVERY = "*"
_ALLOWS: dict[Role, frozenset[Scope]] = {
    "viewer": frozenset({"read"}),
    "writer": frozenset({"read", "write", "ingest"}),
    "admin": frozenset(SCOPES),
}


@dataclass(frozen=True)
class Caller:
    """A user, as far as the token that was shown goes."""

    user: str
    name: str
    token: str
    """The id of the token, not its secret."""
    kind: str
    scopes: frozenset[Scope]
    admin: bool = False
    roles: Mapping[str, Role] = field(default_factory=dict)
    run: str | None = None
    """A view-only link shows this run and nothing else."""

    @property
    def is_admin(self) -> bool:
        """Whether they may change users, teams and settings of the server."""
        return self.admin and "admin" in self.scopes

    def role_in(self, project: str) -> Role | None:
        """The higher one of the role in a project and the role in every project."""
        if self.admin:
            return "admin"
        held = [role for role in (self.roles.get(project), self.roles.get(EVERY)) if role is not None]
        return max(held, key=ROLES.index, default=None)

    def may(self, scope: Scope, project: str) -> bool:
        role = self.role_in(project)
        return scope in self.scopes and role is not None and scope in _ALLOWS[role]

    def projects(self, scope: Scope) -> frozenset[str] | None:
        """The projects in which they may do it; None for all."""
        if self.may(scope, EVERY):
            return None
        return frozenset(project for project in self.roles if project != EVERY and self.may(scope, project))

    def may_somewhere(self, scope: Scope) -> bool:
        return (self.run is not None and scope == "read") or self.projects(scope) != frozenset()


LOCAL = Caller(user="", name="", token="", kind="local", scopes=frozenset(SCOPES), admin=True)
"""Whoever has the token of an app that has no users: `stepscope ui`."""


def checked_scopes(words: Iterable[str]) -> frozenset[Scope]:
    """Scopes that a person typed.

    >>> sorted(checked_scopes(["read", "ingest"]))
    ['ingest', 'read']
    """
    given = list(words)
    wrong = [word for word in given if word not in SCOPES]
    if wrong or not given:
        raise UsageError(f"{', '.join(map(repr, wrong)) or 'nothing'} is not a scope; choose from {', '.join(SCOPES)}")
    return frozenset(cast(list[Scope], given))


def checked_role(word: str) -> Role:
    if word not in ROLES:
        raise UsageError(f"{word!r} is not a role; choose from {', '.join(ROLES)}")
    return word
