"""The audit log, for admins."""

from __future__ import annotations

import msgspec

from stepscope.people.audit import audit_log
from stepscope.server.team.desk import Desk
from stepscope.views.route import route


class AuditRequest(msgspec.Struct):
    before: int | None = None
    """Entries older than this one; the newest without."""


class AuditRow(msgspec.Struct):
    id: int
    at: float
    user: str
    action: str
    subject: str
    detail: str
    address: str


class AuditLog(msgspec.Struct):
    entries: list[AuditRow]


@route("POST", "/api/audit")
def audit(desk: Desk, request: AuditRequest) -> AuditLog:
    """Who changed what, the newest first."""
    return AuditLog([AuditRow(**vars(entry)) for entry in audit_log(desk.database, before=request.before)])
