"""Valid metric names, and generated run names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stepscope.track.git import repository_name

_FIRST = (
    "amber autumn bold brave bright calm clear cosmic crisp dawn deep eager early fair fleet fresh gentle golden "
    "grand happy hidden jolly keen kind late light lively lucky merry misty modest noble patient plain proud quick "
    "quiet rapid ready royal rustic sharp silent silver simple sleek small smooth snowy soft solar solid spry steady "
    "still sunny swift tidy true vivid warm wild wise witty"
)
_SECOND = (
    "alder aspen badger bay beech birch bison brook canyon cedar cliff comet coral cove crane creek delta dune eagle "
    "elm falcon fern field finch fjord forest fox glade grove gull harbor hare hawk heron hill isle jay kestrel lake "
    "lark leaf lynx maple marsh meadow moon moss oak ocean orca otter owl pine plover pond raven reef ridge river "
    "robin sage seal shore sky sparrow spruce star stone stork stream summit swan tern thistle tide valley wave willow "
    "wolf wren"
)

_TOOLS = frozenset({"ipykernel_launcher", "colab_kernel_launcher", "pytest", "__main__"})
"""Launchers that are started in place of a script. `__main__` belongs to a package, whose folder is a better name."""
_COMMON_SCRIPTS = frozenset({"main", "train", "training", "trainer", "run", "script", "experiment", "finetune", "test"})
"""Names without information."""


def as_name(key: object) -> str:
    """Any dictionary key as a metric's name.

    Every string is valid. Lone surrogates cannot be written as UTF-8, so they are escaped (`\\udc80`).
    """
    text = key if type(key) is str else str(key)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def friendly_name() -> str:
    """A name for a run: `quiet-heron-4821`. Uses the system's randomness, so no generator of the training advances."""
    firsts, seconds = _FIRST.split(), _SECOND.split()
    draw = int.from_bytes(os.urandom(8), "little")
    draw, first = divmod(draw, len(firsts))
    draw, second = divmod(draw, len(seconds))
    return f"{firsts[first]}-{seconds[second]}-{draw % 10000:04d}"


def default_project() -> str:
    """A default project name: the git repository's name, else the script's, else its folder's.

    Half of all scripts are called `train.py`: the folder distinguishes them.
    """
    script = script_path()
    started_by_tool = script is None or script.stem in _TOOLS
    folder = working_folder() if script is None or started_by_tool else _folder_of(script)
    repository = repository_name(folder)
    if repository:
        return repository
    if script is not None and not started_by_tool and script.stem.lower() not in _COMMON_SCRIPTS:
        return script.stem
    return folder.name or "default"


def working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # deleted meanwhile
        return Path("/")


def code_folder() -> Path:
    """The script's folder; the working folder in a session without a script."""
    script = script_path()
    if script is None or script.stem in _TOOLS or not script.exists():
        return working_folder()
    return _folder_of(script)


def _folder_of(script: Path) -> Path:
    """Without `..`: the folders above `../other/train.py` are not those above the working folder."""
    return Path(os.path.abspath(script)).parent


def notebook_path() -> Path | None:
    """The notebook of this kernel, if the server (or VS Code) provides its name."""
    told = getattr(sys.modules.get("__main__"), "__vsc_ipynb_file__", None) or os.environ.get("JPY_SESSION_NAME", "")
    return Path(told) if isinstance(told, str) and told.endswith(".ipynb") else None


def script_path() -> Path | None:
    """The file that was started, the notebook, or None in another interactive session."""
    started = sys.argv[0] if sys.argv else ""
    if Path(started).stem in ("ipykernel_launcher", "colab_kernel_launcher"):
        return notebook_path() or Path(started)
    return Path(started) if started and started not in ("-", "-c", "-m") else None
