"""Keeping the pictures: in a run, and as files one can open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.launch.data.survey import Survey


def logged(run: Any, survey: Survey) -> None:
    """Log the sheet of a survey to a run."""
    if survey.sheet is not None:
        run.log({f"data/{survey.key}": survey.sheet})


def saved_in_run(surveys: list[Survey], *, project: str | None, dir: Path | None, script: str) -> None:
    """Open a run for the pictures of a script's data, and put them in its folder as files too."""
    from stepscope.track.session import init

    if not any(survey.sheet for survey in surveys):
        return
    run = init(project=project, dir=dir, tags=["data"], notes=f"what {script} reads", console=False, system=False)
    try:
        for survey in surveys:
            logged(run, survey)
            if run.path is not None:
                survey.save_picture(run.path / "data" / f"{survey.key}.png")
    finally:
        run.finish()
