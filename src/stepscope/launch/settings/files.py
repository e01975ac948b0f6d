"""Settings that come from files: YAML, JSON and TOML that the script loads, OmegaConf, Hydra, yacs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.files.opening import read_text
from stepscope.files.yaml_text import load_yaml
from stepscope.launch.settings.source import COMMAND_LINE, DEFAULT, SCRIPT, Source, Words, file_label
from stepscope.track.config import flatten

_LARGEST = 1 << 20
_CONFIG_FILE = re.compile(r"(?i)(conf|cfg|param|hyper|setting|option|args|hp)")


def keys_of_file(path: str, inside: str | None = None) -> list[str]:
    """The flat names of the settings in a YAML or JSON file, those of a subcommand without its name."""
    try:
        found = load_yaml(read_text(os.path.abspath(path), _LARGEST), path)
    except (OSError, StepscopeError, ImportError):
        return []
    if not isinstance(found, Mapping):
        return []
    return [*flatten(found), *flatten(found.get(inside) if inside else {})]


def settings_file(stream: Any, kind: str) -> str | None:
    """The name of the file a script loads its settings from; None where it may be data."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str):
        return None
    base = os.path.basename(name)
    if kind == "yaml":
        return name
    return name if _CONFIG_FILE.search(base) and base != "pyproject.toml" else None


def of_loaded(values: Mapping[str, Any], file: str) -> Source:
    """A dict that the script has loaded from a file, and may go on to change."""
    label = file_label(file)
    return Source(lambda: values, lambda name, value: label, values, is_raw=True)


def of_omegaconf(config: Any, file: str | None, known: Mapping[str, str], argv: list[str]) -> Source:
    """A config that the script loads or merges itself; `known` are the files of settings met so far."""
    label, words = file_label(file) if file else None, Words(argv)

    def origin(name: str, value: Any) -> str:
        if words.give(name):
            return COMMAND_LINE
        return label or known.get(name) or SCRIPT

    return Source(lambda: contents(config), origin, config)


def contents(config: Any) -> Mapping[str, Any]:
    """An OmegaConf config as plain values, its references resolved where they can be."""
    omegaconf: Any = sys.modules["omegaconf"]
    try:
        found = omegaconf.OmegaConf.to_container(config, resolve=True)
    except omegaconf.errors.OmegaConfBaseException:
        found = omegaconf.OmegaConf.to_container(config, resolve=False)
    return found if isinstance(found, Mapping) else {}


def of_yacs(config: Any, files: Mapping[str, str], given: list[str]) -> Source:
    """A CfgNode with what was merged into it."""
    words = Words([f"{name}=" for name in given])

    def origin(name: str, value: Any) -> str:
        return COMMAND_LINE if words.give(name) else files.get(name, DEFAULT)

    return Source(lambda: config, origin, config)


# -- Hydra ------------------------------------------------------------------------------------------------------


def of_hydra(config: Any, frame: FrameType | None) -> Source:
    """The config that a job of Hydra is given, with the overrides; without Hydra's own settings."""
    hydra = config.hydra
    words = Words(str(one) for one in hydra.overrides.task)
    in_files = _files_of_hydra(hydra)
    job_config = _job_config(frame)
    own = config if job_config is None else job_config

    def read() -> Mapping[str, Any]:
        return {str(name): value for name, value in contents(own).items() if name != "hydra"}

    def origin(name: str, value: Any) -> str:
        if words.give(name):
            return COMMAND_LINE
        return in_files.get(name) or words.origin_above(name) or DEFAULT

    return Source(read, origin, own)


def _job_config(frame: FrameType | None) -> Any:
    """The very object the script's function is called with: `run_job` has made it already."""
    while frame is not None and frame.f_code.co_name != "run_job":
        frame = frame.f_back
    return None if frame is None else frame.f_locals.get("task_cfg")


def _files_of_hydra(hydra: Any) -> dict[str, str]:
    """Each setting's file: the primary config, and that of each chosen option under its group."""
    folders = [str(one.path) for one in hydra.runtime.config_sources if str(one.schema) == "file"]
    chosen = {str(group): str(option) for group, option in hydra.runtime.choices.items()}
    found: dict[str, str] = {}
    for folder in folders:
        main = os.path.join(folder, f"{str(hydra.job.config_name or '').removesuffix('.yaml')}.yaml")
        found.update(_keys_under(main, ""))
        for group, option in chosen.items():
            if not group.startswith("hydra/"):
                package = group.partition("@")[2].replace(".", "/") or group
                found.update(_keys_under(os.path.join(folder, group.partition("@")[0], f"{option}.yaml"), package))
    return found


def _keys_under(path: str, package: str) -> dict[str, str]:
    if not os.path.isfile(path):
        return {}
    header = re.search(r"^#\s*@package\s+(\S+)", read_text(path, _LARGEST), re.MULTILINE)
    if header is not None and header[1] != "_group_":
        package = "" if header[1] == "_global_" else header[1].replace(".", "/")
    before = f"{package}/" if package else ""
    return {before + key: file_label(path) for key in keys_of_file(path)}
