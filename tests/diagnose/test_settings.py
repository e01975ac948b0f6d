from __future__ import annotations

from pathlib import Path

import pytest
from tests.diagnose.sample_rules import RULES, sample_rules as sample_rules

from stepscope.diagnose.pyproject import FileSettings
from stepscope.diagnose.settings import Settings, load_settings
from stepscope.errors import ConfigError
from stepscope.records import Finding, Related

pytestmark = pytest.mark.usefixtures("sample_rules")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script in a folder of a project."""
    path = tmp_path / "project" / "scripts" / "train.py"
    path.parent.mkdir(parents=True)
    path.write_text("a = 1\nb = 2  # stepscope: ignore[loss]\n")
    return path


def configure(script: Path, text: str) -> Path:
    path = script.parent.parent / "pyproject.toml"
    path.write_text(text)
    return path


def rules_on(settings: Settings) -> list[str]:
    return [rule for rule in RULES if settings.is_wanted(rule)]


def test_without_settings_every_rule_speaks(script: Path) -> None:
    assert rules_on(load_settings(script)) == [*RULES]


def test_the_nearest_pyproject_with_our_section_counts(script: Path) -> None:
    path = configure(script, '[tool.stepscope]\nignore = ["repro"]\nstrict = true\nproject = "vae"\ndir = "runs"\n')
    (script.parent / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    settings = load_settings(script)
    assert settings.file.path == path
    assert rules_on(settings) == ["opt.no-zero-grad", "opt.stale-params", "loss.nan"]
    assert (settings.strict, settings.project, settings.dir) == (True, "vae", str(path.parent / "runs"))
    assert load_settings(script, strict=False, project="gpt", dir="/r").strict is False


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (["opt"], [], ["opt.no-zero-grad", "opt.stale-params"]),
        (["opt.no-*"], [], ["opt.no-zero-grad"]),
        (["opt,loss"], ["opt.stale-params"], ["opt.no-zero-grad", "loss.nan"]),
        (["all"], ["opt.*"], ["loss.nan", "repro.no-seed"]),
        (["opt.no-zero-grad"], ["opt"], ["opt.no-zero-grad"]),
        (["opt"], ["opt"], []),
    ],
)
def test_rules_are_chosen_by_id_group_or_pattern(
    script: Path, select: list[str], ignore: list[str], expected: list[str]
) -> None:
    assert rules_on(load_settings(script, select=select, ignore=ignore)) == expected


def test_the_command_line_goes_before_the_file_and_a_precise_name_before_a_wide_one(script: Path) -> None:
    configure(script, '[tool.stepscope]\nselect = ["opt.no-zero-grad"]\nignore = ["repro"]\n')
    assert rules_on(load_settings(script)) == ["opt.no-zero-grad"]
    assert rules_on(load_settings(script, ignore=["opt"])) == []
    assert rules_on(load_settings(script, select=["all"])) == ["opt.no-zero-grad", "opt.stale-params", "loss.nan"]
    assert rules_on(load_settings(script, select=["repro.no-seed"])) == ["repro.no-seed"]


def test_severities_are_overridden_and_rules_turned_off(script: Path) -> None:
    configure(script, '[tool.stepscope.severity]\nopt = "off"\n"opt.no-zero-grad" = "warning"\n')
    settings = load_settings(script)
    assert rules_on(settings) == ["opt.no-zero-grad", "loss.nan", "repro.no-seed"]
    found = Finding(rule="opt.no-zero-grad", severity="error", message="m")
    assert settings.with_severity(found).severity == "warning"
    other = Finding(rule="loss.nan", severity="error", message="m")
    assert settings.with_severity(other) is other


def test_rules_are_silenced_by_file_and_by_comment(script: Path) -> None:
    configure(script, '[tool.stepscope.per-file-ignores]\n"scripts/*" = ["opt.no-zero-grad"]\n"other.py" = ["all"]\n')
    settings = load_settings(script)

    def silenced(rule: str, line: int, file: Path = script, **more: object) -> bool:
        found = Finding(rule=rule, severity="error", message="m", file=str(file), line=line, **more)  # type: ignore[arg-type]
        return settings.is_silenced(found)

    assert silenced("opt.no-zero-grad", 1)
    assert not silenced("opt.stale-params", 1)
    assert silenced("loss.nan", 2)
    assert not silenced("loss.nan", 1)
    assert silenced("loss.nan", 1, related=[Related(file=str(script), line=2)])
    assert silenced("loss.nan", 1, file=script.with_name("other.py"))
    assert not settings.is_silenced(Finding(rule="loss.nan", severity="error", message="no place"))
    assert list(settings.mistaken_comments([str(script)])) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[tool.stepscope]\nignroe = ["opt"]', "no setting 'ignroe'; did you mean 'ignore'?"),
        ("[tool.stepscope]\nzzz = 1", "no setting 'zzz'; it has select, ignore, severity"),
        ("[tool.stepscope]\nignore = [1]", r"ignore is \[1\]; expected a list of rules"),
        ('[tool.stepscope]\nignore = ["opt.no-zero-gard"]', "did you mean 'opt.no-zero-grad'"),
        ('[tool.stepscope]\nstrict = "yes"', "strict is 'yes'; expected true or false"),
        ('[tool.stepscope]\nproject = ""', "expected a text that is not empty"),
        ('[tool.stepscope.severity]\nopt = "loud"', "expected one of error, warning, info, off"),
        ('[tool.stepscope.severity]\nopt.no-zero-grad = "info"', "the rule's id in quotes"),
        ('[tool]\nstepscope = "x"', "expected a table"),
        ("[tool.stepscope", "is not valid TOML"),
        ("[tool.stepscope]\n#" + "x" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(script: Path, text: str, words: str) -> None:
    path = configure(script, text)
    with pytest.raises(ConfigError, match=words) as error:
        load_settings(script)
    assert str(path) in str(error.value)


def test_a_file_that_says_nothing_to_us_is_passed_by_however_broken(script: Path) -> None:
    configure(script, "[tool.other\n\xff")
    assert load_settings(script).file == FileSettings()


def test_an_unknown_rule_on_the_command_line_is_told(script: Path) -> None:
    with pytest.raises(ConfigError, match="--ignore: there is no rule or group of rules 'optt'; did you mean 'opt'"):
        load_settings(script, ignore=["optt"])
