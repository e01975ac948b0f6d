"""A team's server with three people, runs of two projects, a report, and a model that other runs used."""

from __future__ import annotations

import time
from pathlib import Path

from inside_store import Made
from make_store import usual

from stepscope.database.engine import default_url
from stepscope.people.roles import set_role
from stepscope.people.setup import open_people
from stepscope.people.users import add_user
from stepscope.records import ArtifactUse
from stepscope.report.store import save
from stepscope.runs.read.folder import open_run


def team(store: Path) -> None:
    usual(store)
    lineage(store)
    save([store], "# Results of the week\n\nThe small model is better than expected.\n", "Results of the week")
    with open_people(default_url(store)) as people:
        add_user(people, "ada", email="ada@example.org", admin=True)
        for name, role in (("bo", "writer"), ("cy", "viewer")):
            add_user(people, name, email=f"{name}@example.org")
            set_role(people, "*" if name == "bo" else "vae", role, user=name)


def lineage(store: Path) -> None:
    """train makes a model; two evaluations use it, and one of them makes a table."""
    train = Made(store, "train", 3600.0)
    train.keep({"model.pt": b"weights" * 4000}, "model", aliases=["best"])
    train.end()
    [model] = open_run(train.path).artifacts
    for name in ("evaluate", "distill"):
        story = Made(store, name, 1800.0)
        use = ArtifactUse(
            time=time.time(), name=model.name, version=model.version, digest=model.digest, type=model.type, run=train.id
        )
        story.writer.event(use)
        if name == "distill":
            story.keep({"small.pt": b"less" * 900}, "small-model")
        story.end()
