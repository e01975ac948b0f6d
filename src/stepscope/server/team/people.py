"""Users, teams, and their roles in projects."""

from __future__ import annotations

import msgspec

from stepscope.people.caller import checked_role
from stepscope.people.roles import members as members_of, remove_team, set_role, set_team, teams as teams_of
from stepscope.people.tokens import INVITE_S, make_token
from stepscope.people.users import add_user, change_user, find_user, users
from stepscope.server.team.desk import Desk
from stepscope.views.route import Empty, route


class Person(msgspec.Struct):
    name: str
    email: str | None = None
    """Told to admins only, like what follows."""
    admin: bool | None = None
    disabled: bool | None = None
    signed_in: float | None = None


class People(msgspec.Struct):
    people: list[Person]


class AddPersonRequest(msgspec.Struct):
    name: str
    email: str | None = None
    admin: bool = False
    role: str | None = "writer"
    """Their role in `project`; None for no role yet."""
    project: str = "*"


class Invitation(msgspec.Struct):
    name: str
    url: str
    """Below this server's address; it signs one browser in, once."""


class ChangePersonRequest(msgspec.Struct):
    name: str
    admin: bool | None = None
    disabled: bool | None = None
    email: str | None = None
    """An empty one removes it."""


class InviteRequest(msgspec.Struct):
    name: str


class MembersRequest(msgspec.Struct):
    project: str


class ProjectMember(msgspec.Struct):
    project: str
    user: str | None
    team: str | None
    role: str


class Members(msgspec.Struct):
    members: list[ProjectMember]


class SetMemberRequest(msgspec.Struct):
    project: str
    user: str | None = None
    team: str | None = None
    role: str | None = None
    """None: no role."""


class Teams(msgspec.Struct):
    teams: dict[str, list[str]]


class SetTeamRequest(msgspec.Struct):
    team: str
    users: list[str] | None
    """None: there is no such team any more."""


@route("POST", "/api/people")
def people(desk: Desk, request: Empty) -> People:
    """Everybody's name; for admins also what they need to look after them. A guest with a link meets nobody."""
    if desk.caller.kind == "link":
        return People([])
    found = users(desk.database)
    if not desk.caller.is_admin:
        return People([Person(user.name) for user in found if user.disabled is None])
    return People(
        [Person(user.name, user.email, user.admin, user.disabled is not None, user.signed_in) for user in found]
    )


@route("POST", "/api/people/add")
def add(desk: Desk, request: AddPersonRequest) -> Invitation:
    """A new user, with a link for their first visit."""
    role = None if request.role is None else checked_role(request.role)
    user = add_user(desk.database, request.name, email=request.email, admin=request.admin)
    if role is not None:
        set_role(desk.database, request.project, role, user=user.name)
    desk.note("people/add", user.name, f"{role or 'no role'} in {request.project}{', admin' * request.admin}")
    return invite(desk, InviteRequest(user.name))


@route("POST", "/api/people/change")
def change(desk: Desk, request: ChangePersonRequest) -> People:
    """Make somebody an admin or not; disable or enable a user; set their email address."""
    given = {name: value for name in ("admin", "disabled", "email") if (value := getattr(request, name)) is not None}
    change_user(desk.database, request.name, **given)
    desk.note("people/change", request.name, " ".join(f"{name}={value}" for name, value in given.items()))
    return people(desk, Empty())


@route("POST", "/api/people/invite")
def invite(desk: Desk, request: InviteRequest) -> Invitation:
    """A link that signs a user in, once, within three days: for a new browser, or a lost one."""
    user = find_user(desk.database, request.name)
    _, secret = make_token(desk.database, user.id, "invite", lifetime_s=INVITE_S)
    desk.note("people/invite", user.name)
    return Invitation(user.name, f"/?token={secret}")


@route("POST", "/api/members")
def members(desk: Desk, request: MembersRequest) -> Members:
    """Who has a role in a project (`*`: in every one)."""
    desk.require("admin", request.project)
    found = members_of(desk.database, request.project)
    return Members([ProjectMember(one.project, one.user, one.team, one.role) for one in found])


@route("POST", "/api/members/set")
def set_member(desk: Desk, request: SetMemberRequest) -> Members:
    """Give a user or a team a role in a project, or take it away."""
    desk.require("admin", request.project)
    role = None if request.role is None else checked_role(request.role)
    set_role(desk.database, request.project, role, user=request.user, team=request.team)
    desk.note("members/set", request.project, f"{request.user or 'team ' + str(request.team)}: {role or 'no role'}")
    return members(desk, MembersRequest(request.project))


@route("POST", "/api/teams")
def teams(desk: Desk, request: Empty) -> Teams:
    """Every team with its users."""
    return Teams(teams_of(desk.database))


@route("POST", "/api/teams/set")
def change_team(desk: Desk, request: SetTeamRequest) -> Teams:
    """Make a team, change who is in it, or dissolve it."""
    if request.users is None:
        remove_team(desk.database, request.team)
    else:
        set_team(desk.database, request.team, request.users)
    desk.note("teams/set", request.team, "dissolved" if request.users is None else ", ".join(request.users))
    return teams(desk, Empty())
