"""The examples in deploy/: they parse, and what they start and ask for is what the server has."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path

import click
import yaml

from stepscope.cli.server import start

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def options_of_start() -> set[str]:
    return {name for option in start.params if isinstance(option, click.Option) for name in option.opts}


def balanced(text: str) -> bool:
    depth = 0
    for char in re.sub(r"#.*|\"[^\"]*\"", "", text):
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


def test_the_systemd_unit_starts_the_server_and_lets_it_end() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read_string((DEPLOY / "stepscope.service").read_text())
    words = shlex.split(unit["Service"]["ExecStart"])
    assert words[0].endswith("/stepscope")
    assert words[1] == "server"
    assert {word for word in words if word.startswith("--")} <= options_of_start()
    assert unit["Service"]["KillSignal"] == "SIGTERM"
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_the_container_file_has_known_instructions_and_options() -> None:
    known = {"FROM", "RUN", "COPY", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}
    lines = [line for line in (DEPLOY / "Containerfile").read_text().splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} <= known
    entry = yaml.safe_load(next(line for line in lines if line.startswith("ENTRYPOINT")).partition(" ")[2])
    assert entry[:2] == ["stepscope", "server"]
    assert {word for word in entry if word.startswith("--")} <= options_of_start()


def test_the_kubernetes_manifests_fit_together() -> None:
    found = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes/stepscope.yaml").read_text())}
    assert set(found) == {"PersistentVolumeClaim", "Deployment", "Service"}
    template = found["Deployment"]["spec"]["template"]
    assert template["metadata"]["labels"] == found["Deployment"]["spec"]["selector"]["matchLabels"]
    assert found["Service"]["spec"]["selector"] == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    assert {word for word in container["args"] if word.startswith("--")} <= options_of_start()
    assert container["readinessProbe"]["httpGet"]["path"] == "/healthz"
    (volume,) = template["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == found["PersistentVolumeClaim"]["metadata"]["name"]
    assert container["volumeMounts"][0]["name"] == volume["name"]


def test_the_proxies_pass_streams_and_large_pieces() -> None:
    from stepscope.sync.wire import LARGEST_PIECE

    caddy, nginx = (DEPLOY / "Caddyfile").read_text(), (DEPLOY / "nginx.conf").read_text()
    assert balanced(caddy)
    assert balanced(nginx)
    for line in (line.partition("#")[0].strip() for line in nginx.splitlines()):
        assert not line or line.endswith((";", "{", "}")), line
    assert "flush_interval -1" in caddy
    assert re.search(r"location = /api/live \{[^}]*proxy_buffering off;", nginx)
    assert "X-Forwarded-For" not in nginx  # nobody reads it: the guard does not trust what a client may have sent
    most = [int(size) << 20 for size in re.findall(r"(?:max_size |max_body_size )(\d+)", caddy + nginx)]
    assert len(most) == 2
    assert min(most) > LARGEST_PIECE
