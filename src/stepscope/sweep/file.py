"""Reading a sweep file: YAML as people think it works, and one clear line where it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from stepscope.errors import BadData, ConfigError, NotFound
from stepscope.files.opening import read_file

LARGEST = 1 << 20


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers and truth values: `1e-4` is a number, `on` and `no` are words. No name may come twice."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if not tag.endswith((":float", ":bool", ":timestamp"))]
    for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key, _ in node.value:
        name = key.value
        if isinstance(key, yaml.ScalarNode) and name in seen:
            raise yaml.constructor.ConstructorError(None, None, f"{name!r} stands here twice", key.start_mark)
        seen.add(name if isinstance(key, yaml.ScalarNode) else id(key))
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def load(path: Path) -> Any:
    """What a YAML (or JSON) file says."""
    try:
        data = read_file(path, LARGEST)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}; docs/sweeps.md shows what a sweep file looks like") from None
    except IsADirectoryError:
        raise ConfigError(f"{str(path)!r} is a folder; give the sweep file in it") from None
    try:
        return yaml.load(data.decode("utf-8-sig"), _Loader)
    except UnicodeDecodeError as fault:
        raise BadData(f"{path} is not text: {fault}") from None
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else str(path)
        raise ConfigError(f"{where}: {fault.problem or 'this is not YAML'}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        raise ConfigError(f"{path} cannot be read as YAML: {fault}") from None
