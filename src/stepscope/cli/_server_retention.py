"""`stepscope server retention`: how long projects keep data, and how much space projects and users may use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import database_options, people_of
from stepscope.cli._terminal import clean
from stepscope.common.units import bytes_text, counted, parse_bytes

if TYPE_CHECKING:
    from stepscope.database.engine import Database
    from stepscope.runs.retention.plan import Plan, Policy
    from stepscope.server.policies import Settings
    from stepscope.server.retention import Planned

_NONE = "none"


@click.command(name="retention", short_help="Show or change how long projects keep data.")
@database_options
@click.option("--project", metavar="NAME", help="The project to change; * for all projects without their own settings.")
@click.option("--user", metavar="NAME", help="The user whose --quota to change; * for all users without their own.")
@click.option("--points-days", metavar="N", help="Thin series of runs that ended more than N days ago; or none.")
@click.option("--media-newest", metavar="N", help="Keep the media of the newest N steps of each key; or none.")
@click.option("--artifact-days", metavar="N", help="Remove unused artifact versions after N days; or none.")
@click.option("--trash-days", metavar="N", help="Remove deleted runs permanently after N days.")
@click.option("--quota", metavar="SIZE", help="How much may be stored, e.g. 500GB; or none.")
@click.option("--dry-run", is_flag=True, help="Change nothing; list what these settings would remove now.")
@json_option
def command(
    folder: Path,
    database: str | None,
    project: str | None,
    user: str | None,
    points_days: str | None,
    media_newest: str | None,
    artifact_days: str | None,
    trash_days: str | None,
    quota: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Show or change how long projects keep data. Settings that you do not pass stay unchanged.

    A thinned series keeps the extremes and means of a thousand stretches; its last, min, max, mean and counts stay
    exact. An artifact version stays while it is the newest, has an alias, or a run uses it. The server applies the
    settings automatically, at the earliest a day after a run has ended, and logs what it removed in the audit log.

    \b
    stepscope server retention --folder /srv/runs                           # what is set
    stepscope server retention --project vision --points-days 90 --media-newest 20 --dry-run
    stepscope server retention --project vision --points-days 90 --media-newest 20
    stepscope server retention --project '*' --quota 2TB
    stepscope server retention --user ada --quota 500GB
    """
    from stepscope.people.audit import note
    from stepscope.server.policies import Settings, read_policies, set_settings

    settings = {"points_days": points_days, "media_newest": media_newest}
    settings |= {"artifact_days": artifact_days, "trash_days": trash_days}
    changes = {setting: value for setting, value in settings.items() if value is not None}
    is_change = bool(changes) or quota is not None
    if is_change or dry_run:
        _check_target(project, user, bool(changes) or dry_run)
    kind: Literal["user", "project"] = "project" if user is None else "user"
    name = user or project or ""
    with people_of(folder, database) as people:
        policies = read_policies(people)
        held = policies.user(name) if kind == "user" else policies.project(name)
        wanted = Settings(_changed(held.policy, changes), held.quota_bytes if quota is None else _quota(quota))
        if dry_run:
            _preview(folder, name, wanted.policy, as_json)
            return
        if is_change:
            set_settings(people, kind, name, wanted)
            note(people, "command line", "storage/policy", f"{kind} {name}", detail=_words(wanted))
        _show(people, as_json)


def _check_target(project: str | None, user: str | None, is_of_project: bool) -> None:
    """Whether exactly one is named, and one that has such settings."""
    from stepscope.errors import UsageError

    if (project is None) == (user is None):
        raise UsageError("choose what to change: pass either --project NAME or --user NAME")
    if user is not None and is_of_project:
        raise UsageError("a user has only a --quota; retention is set for a --project")


def _changed(policy: Policy, given: dict[str, str]) -> Policy:
    from msgspec.structs import replace

    from stepscope.errors import UsageError

    values: dict[str, Any] = {}
    for name, text in given.items():
        if text == _NONE and name != "trash_days":
            values[name] = None
            continue
        try:
            values[name] = int(text) if name == "media_newest" else float(text)
        except ValueError:
            raise UsageError(f"--{name.replace('_', '-')} {text!r} is not a number; give for example 30") from None
    return replace(policy, **values)


def _quota(text: str) -> int | None:
    return None if text == _NONE else parse_bytes(text, "--quota")


def _words(settings: Settings) -> str:
    policy = settings.policy
    said = []
    if policy.points_days is not None:
        said.append(f"thin points after {policy.points_days:g} days")
    if policy.media_newest is not None:
        said.append(f"keep media of {policy.media_newest} steps per key")
    if policy.artifact_days is not None:
        said.append(f"remove unused artifacts after {policy.artifact_days:g} days")
    said.append(f"empty the trash after {policy.trash_days:g} days")
    if settings.quota_bytes is not None:
        said.append(f"quota {bytes_text(settings.quota_bytes)}")
    return ", ".join(said)


def _show(people: Database, as_json: bool) -> None:
    import msgspec

    from stepscope.server.policies import read_policies

    policies = read_policies(people)
    if as_json:
        print_json(msgspec.to_builtins({"projects": policies.projects, "users": policies.users}))
        return
    for name, settings in sorted(policies.projects.items()):
        click.echo(f"{'every other project' if name == '*' else 'project ' + clean(name)}: {_words(settings)}")
    if "*" not in policies.projects:
        click.echo("every other project: keep everything, empty the trash after 30 days")
    for name, settings in sorted(policies.users.items()):
        quota = "no quota" if settings.quota_bytes is None else f"quota {bytes_text(settings.quota_bytes)}"
        click.echo(f"{'every other user' if name == '*' else 'user ' + clean(name)}: {quota}")


def _preview(folder: Path, project: str, policy: Policy, as_json: bool) -> None:
    from contextlib import AbstractContextManager, nullcontext

    from stepscope.cli.server import objects_place
    from stepscope.errors import UsageError
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.server.retention import preview
    from stepscope.sync.archive import read_from
    from stepscope.sync.object_store import open_objects

    place = objects_place(folder, None)
    objects: AbstractContextManager[Any] = nullcontext() if place is None else read_from(open_objects(place))
    with Catalogue(folder) as catalogue, objects:
        catalogue.refresh()
        every = catalogue.every()
        projects = sorted({entry.project for entry in every})
        if project != "*" and project not in projects:
            there = f"its projects are {', '.join(projects)}" if projects else "give the server's folder with --folder"
            raise UsageError(f"project {project!r} has no runs in {str(folder)!r}; {there}")
        chosen = projects if project == "*" else [project]
        found = [preview(every, every, one, policy) for one in chosen]
    runs = [one for each in found for one in each.runs]
    unread = [text for each in found for text in each.unread]
    total = sum(one.plan.bytes for one in runs)
    if as_json:
        print_json({"runs": [_plan_row(one) for one in runs], "bytes": total, "unread": unread})
        return
    _print_plans(runs, unread)
    click.echo(f"{bytes_text(total)} of {counted(len(runs), 'run')} would be removed; nothing was changed")


def _print_plans(runs: list[Planned], unread: list[str]) -> None:
    for one in runs:
        removed = ", ".join(_plan_words(one.plan))
        click.echo(f"{one.entry.id} {clean(one.entry.name)}: {bytes_text(one.plan.bytes)} ({removed})")
    for text in unread:
        click.echo(f"not read: {clean(text)}", err=True)


def _plan_row(run: Planned) -> dict[str, Any]:
    return {
        "run": run.entry.id,
        "bytes": run.plan.bytes,
        "points": run.plan.points,
        "media": len(run.plan.media),
        "artifacts": list(run.plan.artifacts),
    }


def _plan_words(plan: Plan) -> list[str]:
    words = [counted(plan.points, "point")] if plan.points else []
    words += [f"{len(plan.media)} media"] if plan.media else []
    return words + [clean(name) for name in plan.artifacts]
