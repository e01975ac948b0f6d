"""What a call about people is given: the database, who asks, and what they may see of the runs."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.database.engine import Database
from stepscope.errors import Forbidden
from stepscope.people.audit import note
from stepscope.people.caller import Caller, Scope
from stepscope.server.messenger import Messenger
from stepscope.views.context import Context

DAY_S = 86400.0


@dataclass(frozen=True)
class Desk:
    database: Database
    caller: Caller
    ctx: Context
    """Shows the runs of the projects where the caller has the scope that the call needs."""
    messenger: Messenger
    address: str = ""

    def require(self, scope: Scope, project: str) -> None:
        if not self.caller.may(scope, project):
            what = "every project" if project == "*" else f"project {project!r}"
            raise Forbidden(f"{self.caller.name} may not {scope} in {what}; ask an admin for a role there")

    def note(self, action: str, subject: str = "", detail: str = "") -> None:
        """Into the audit log."""
        note(self.database, self.caller.name, action, subject, detail=detail, address=self.address)
