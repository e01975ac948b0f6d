"""The lock holds what is asked for, the bill of materials what a wheel has inside, the docs what the code does."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

from stepscope.server import connections, crowd, protocol
from stepscope.server.settings import Settings

ROOT = Path(__file__).parent.parent


def test_the_lock_pins_everything_with_hashes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/lock", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_that_is_not_locked_is_noticed() -> None:
    lock = runpy.run_path(str(ROOT / "scripts/lock"))
    names = lock["locked"]((ROOT / "dev.lock").read_text())
    assert {"numpy", "msgspec", "pytest", "uvicorn"} <= names
    assert "torch" not in names
    assert not {name for name in names if name.startswith(("nvidia", "cuda"))}
    assert lock["locked"]("a==1 \\\n    --hash=sha256:00\nB_c==2 \\\n") == {"a", "b-c"}


def test_the_bill_of_materials_names_what_runs_and_what_the_web_app_has_inside(tmp_path: Path) -> None:
    target = tmp_path / "sbom.json"
    subprocess.run([sys.executable, ROOT / "scripts/sbom", target], check=True, capture_output=True)
    bill = json.loads(target.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    found = {re.sub(r"@[^@]*$", "", each["purl"]): each for each in bill["components"]}
    assert {"pkg:pypi/numpy", "pkg:pypi/starlette", "pkg:npm/preact"} <= set(found)
    assert "pkg:pypi/pytest" not in found
    assert len(found["pkg:pypi/msgspec"]["externalReferences"][0]["hashes"]) > 10
    assert found["pkg:npm/preact"]["hashes"][0]["alg"] == "SHA-512"
    assert len({each["bom-ref"] for each in bill["components"]}) == len(bill["components"])


def test_the_limits_in_the_docs_are_those_of_the_code() -> None:
    text = (ROOT / "docs/security.md").read_text()
    limits = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    settings = Settings()
    assert limits["the body of a request"].startswith(f"{settings.max_body >> 20} MiB")
    headers = protocol.uvicorn_options(1, 1)["h11_max_incomplete_event_size"]
    assert limits["the headers of a request"] == f"{headers >> 10} KiB"
    arrive = limits["time for the headers to arrive, then for the body"]
    assert arrive.startswith(f"{settings.header_s:g} s, then {settings.body_s:g} s")
    assert limits["time in which a client reads nothing of its response"] == f"{protocol.READ_S:g} s"
    strangers = limits["connections without an admitted request"]
    assert strangers.startswith(f"{connections.MOST_STRANGERS}, of one address {connections.MOST_PER_ADDRESS}")
    assert limits["idle connections of clients that have shown the token"] == str(connections.MOST_KNOWN)
    assert limits["requests being answered at once"].startswith(f"{crowd.MOST_AT_ONCE},")
    assert limits["open streams (pages that follow runs live)"] == str(settings.max_listeners)
    assert f"at most {connections.ACCEPTED_AT_ONCE} new connections" in " ".join(text.split())
