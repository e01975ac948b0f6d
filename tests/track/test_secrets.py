"""No secret reaches the disk, and no setting is mistaken for one."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.track import secrets
from stepscope.track.ending import ending_of
from stepscope.track.secrets import MASK, mask_argv, mask_text, mask_value
from stepscope.track.secrets.known import MOST_OVERHEARD, known_values


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    secrets.forget_all()
    yield
    secrets.forget_all()


SECRET_NAMES = [
    "token", "hf_token", "HF_TOKEN", "access_token", "accessToken", "auth_token", "GITHUB_TOKEN", "token_github",
    "api_key", "apiKey", "API-KEY", "OPENAI_API_KEY", "wandb_api_key", "aws_secret_access_key", "private_key",
    "ssh_key", "secret", "client_secret", "SECRET_KEY", "password", "db.password", "passwd", "PGPASSWORD_pwd", "pwd",
    "passphrase", "credentials", "cookie", "session_cookie", "session_id", "authorization", "auth", "oauth",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_text_under_a_secret_name_is_masked(name: str) -> None:
    assert mask_value(name, "s3cr3t!") == MASK


HARMLESS = [
    ("monkey", "banana"), ("keyboard", "qwerty"), ("num_keys", "12"), ("keypoints", "coco"), ("key", "val_loss"),
    ("sort_key", "name"), ("image_key", "jpg"), ("monitor_key", "val/loss"), ("token_dim", "64"),
    ("token_type", "bpe"), ("max_tokens", "100"), ("tokenizer", "gpt2"), ("tokens", "many"), ("pad_token", "<pad>"),
    ("eos_token", "</s>"), ("special_tokens", "x"), ("mask_token", "[MASK]"), ("author", "Ada"),
    ("auth_method", "kerberos"), ("session", "morning"), ("compass", "north"), ("bypass", "layer3"),
    ("passes", "2"), ("secretary", "Bob"), ("api_version", "v1"), ("turnkey", "yes"), ("query_key_norm", "rms"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_settings_that_only_sound_like_secrets_are_kept(name: str, value: str) -> None:
    assert mask_value(name, value) == value


@pytest.mark.parametrize("value", [3, 0.5, True, None, [1, 2]])
def test_only_text_is_a_secret(value: Any) -> None:
    assert mask_value("token", value) == value


SHAPES = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    "glpat-abcdefghij0123456789",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123",
    "sk-abcdefghijklmnop0123456789",
    "sk-proj-abcdefghijkl_mnop-0123456789",
    "xoxb-123456789012-abcdefghijkl",
    "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlX2hlcmU",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\ndef\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
]


@pytest.mark.parametrize("secret", SHAPES, ids=lambda secret: secret[:12])
@pytest.mark.parametrize("around", ["{}", "before {} after", 'x = "{}"', "({})", "url?q={}&r=1"])
def test_well_known_shapes_are_masked_anywhere(secret: str, around: str) -> None:
    shown = mask_text(around.format(secret))
    assert secret[5:15] not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:pass@host/x", "https://me:***@host/x"),
        ("postgres://u:p%40ss@db:5432/x", "postgres://u:***@db:5432/x"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host:8080/x", "https://host:8080/x"),
        ("mail me@example.org", "mail me@example.org"),
        ("Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer ***"),
        ('password = "hunter2"', 'password = "***"'),
        ("password=hunter2 loss=0.3", "password=*** loss=0.3"),
        ("{'api_key': 'abc123', 'lr': 0.1}", "{'api_key': '***', 'lr': 0.1}"),
        ('{"token": "abc123"}', '{"token": "***"}'),
        ("+  token = tokenizer.decode(x)", "+  token = tokenizer.decode(x)"),
        ("+  password = os.environ['DB_PASSWORD']", "+  password = os.environ['DB_PASSWORD']"),
        ("+  def f(token: str, key: int = 3):", "+  def f(token: str, key: int = 3):"),
        ("token: 5 of 10", "token: 5 of 10"),
        ("key=val_loss mode=min", "key=val_loss mode=min"),
        ("run --api-key abc123 --lr 0.1", "run --api-key *** --lr 0.1"),
        ("loss=0.25 tokens=4096 tok/s=12.5", "loss=0.25 tokens=4096 tok/s=12.5"),
        ("sha 3f786850e387550fdab836ed7e6dc881de23001b", "sha 3f786850e387550fdab836ed7e6dc881de23001b"),
        ("WANDB_API_KEY=3f786850e387550fdab836ed7e6dc881de23001b", "WANDB_API_KEY=***"),
    ],
)
def test_text_keeps_everything_but_its_secrets(text: str, shown: str) -> None:
    assert mask_text(text) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["t.py", "--token", "abc"], ["t.py", "--token", "***"]),
        (["t.py", "--token=abc"], ["t.py", "--token=***"]),
        (["t.py", "--password", "-x9"], ["t.py", "--password", "***"]),
        (["t.py", "--max-tokens", "100"], ["t.py", "--max-tokens", "100"]),
        (["t.py", "--tokenizer", "gpt2"], ["t.py", "--tokenizer", "gpt2"]),
        (["t.py", "api_key=abc", "lr=0.1"], ["t.py", "api_key=***", "lr=0.1"]),
        (["t.py", "db.password=abc"], ["t.py", "db.password=***"]),
        (["t.py", "https://u:p@h/"], ["t.py", "https://u:***@h/"]),
        (["t.py", "--key", "val_loss"], ["t.py", "--key", "val_loss"]),
        (["t.py", "--auth", "--lr", "1"], ["t.py", "--auth", "--lr", "1"]),
        (["python", "-c", "password='abc123'; go()"], ["python", "-c", "password='***'; go()"]),
    ],
)
def test_command_lines(given: list[str], shown: list[str]) -> None:
    assert mask_argv(given) == shown


def test_a_secret_seen_once_is_masked_everywhere_after() -> None:
    assert mask_value("password", "hunter2-and-more") == MASK
    assert mask_text("connected with hunter2-and-more to db") == "connected with *** to db"


def test_what_is_overheard_is_bounded_and_what_was_given_is_not_forgotten() -> None:
    secrets.learn("given-secret-1")
    for number in range(1000):
        mask_text(f"password = 'heard-{number}x'")
    assert mask_text("x given-secret-1 heard-999x y") == "x *** *** y"
    assert len(known_values()) <= MOST_OVERHEARD + 5


def test_a_plain_word_is_not_remembered() -> None:
    mask_value("password", "training")
    assert mask_text("training goes on") == "training goes on"


SCRIPT = """
import os, sys, logging
import stepscope
run = stepscope.init(
    config={"api_key": "PLANTED-config-1", "nested": {"password": "PLANTED-config-2"}, "url": "https://u:PLANTED-url@h/",
            "list": ["ghp_PLANTED0123456789abcdefghij"], "db": os.environ["DB_PASSWORD"],
            "dsn": "Server=db;User Id=sa;Password=PLANTED-dsn-1;", "jdbc": "jdbc:mysql://h/x?user=u&password=PLANTED-dsn-2",
            "json": '{"client_secret": "PLANTED-json-1"}'},
    notes="password=PLANTED-notes-1", tags=["token=PLANTED-tag-1"], name="secret=PLANTED-name-1",
)
print("password: 'PLANTED-stdout-1'")
logging.basicConfig()
logging.warning("password=PLANTED-logged-1")
print("ValueError: password=PLANTED-stdout-2", "error: token=PLANTED-stdout-3x9", sep="\\n")
print("\\x1b[36mapi_key\\x1b[0m=\\x1b[35mPLANTED-color-1\\x1b[0m", "sig=PLANTED0123456789abcdefAB")
print("connect", os.environ["DB_PASSWORD"], file=sys.stderr)
print("-----BEGIN PRIVATE KEY-----"); print("PLANTEDpemline"); print("-----END PRIVATE KEY-----")
sys.stdout.write("tok"); sys.stdout.write("en=PLANTED-split-1\\n")
run.config.update({"hf_token": "PLANTED-update-1"})
run.notes = "api_key=PLANTED-notes-2"
run.tags.add("secret=PLANTED-tag-2")
run.name = "pwd=PLANTED-name-2"
run.alert("password=PLANTED-alert-1", "token='PLANTED-alert-2'")
run.summary["auth"] = "PLANTED-summary-1"
run.log({"note": "use ghp_PLANTED0123456789abcdefghij", "bad": "x"})
run.log({"x": 1j})
def connect(password):
    raise RuntimeError(f"cannot connect with password={password}")
connect("PLANTED-trace-1")
"""


def test_planted_secrets_reach_no_file(tmp_path: Path, run_script: Callable[..., Any]) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )

    (tmp_path / "settings.py").write_text("lr = 1\n")
    git("init", "-q")
    git("add", "settings.py")
    git("commit", "-qm", "first")
    git("remote", "add", "origin", "https://me:PLANTED-remote-1@example.org/repo.git")
    (tmp_path / "settings.py").write_text('lr = 1\napi_key = "PLANTED-diff-1"\n')
    done, (run,) = run_script(
        SCRIPT, "--token", "PLANTED-argv-1", "--password=PLANTED-argv-2", '{"api_key": "PLANTED-argv-3"}',
        "--dsn", "host=db password=PLANTED-argv-4", "-u", "me:PLANTED-argv-5",
        DB_PASSWORD="PLANTED-env-1", NCCL_SECRET_TOKEN="PLANTED-env-2", MASTER_ADDR="https://u:PLANTED-env-3@h",
    )  # fmt: skip
    assert "RuntimeError" in done.stderr
    assert "PLANTED-stdout-1" in done.stdout, "the terminal still shows everything"
    found = [
        (path.name, data[max(0, at - 40) : at + 30])
        for path in run.path.rglob("*")
        if path.is_file()
        for data in [path.read_bytes()]
        if (at := data.find(b"PLANTED")) >= 0
    ]
    assert found == []
    assert run.meta.git.commit
    assert b"settings.py" in b"".join(path.read_bytes() for path in run.path.glob("*.log")), "the diff itself is kept"


def test_files_are_private_whatever_the_umask(store: Path) -> None:
    import stepscope

    before = os.umask(0)
    try:
        run = stepscope.init(dir=store, system=False)
        run.log({"x": 1.0})
        run.finish()
    finally:
        os.umask(before)
    assert run.path is not None
    assert run.path.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in run.path.iterdir() if path.is_file()} == {0o600}


def test_a_place_on_disk_is_no_secret(tmp_path: Path) -> None:
    """PWD is the working directory, not a password; its value must not be blanked out of every path."""
    secrets.learn_from({"PWD": str(tmp_path), "OLDPWD": "/gone/long/ago1", "SSH_AUTH_SOCK": str(tmp_path)})
    assert secrets.mask_text(f"wrote {tmp_path}/model.pt from /gone/long/ago1") == (
        f"wrote {tmp_path}/model.pt from /gone/long/ago1"
    )
    assert secrets.mask_value("db_pwd", "/not/a/place1") == "***"


HOSTILE = ["password", "key=", "token='", "://a:", "-token ", "bearer ", "a.b-c_", "token ", "eyJaaaaaaaa."]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    began = time.process_time()
    mask_text(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 2


def test_a_long_diff_is_masked_throughout() -> None:
    text = "".join(f'+line {number}\n+password = "PLANTED-{number}"\n' for number in range(5000))
    text += "-----BEGIN PRIVATE KEY-----\n" + "+PLANTED\n" * 4000 + "-----END PRIVATE KEY-----\n+the end\n"
    shown = mask_text(text)
    assert "PLANTED" not in shown
    assert shown.count("+line") == 5000
    assert shown.endswith("+the end\n")


def test_a_secret_passed_by_position_is_masked_in_the_traceback() -> None:
    def connect(password: str) -> None:
        raise RuntimeError("refused")

    try:
        connect("Tr0ub4dor-and-3")
    except RuntimeError as error:
        ending = ending_of(error)
    assert ending.traceback is not None
    assert 'connect("***")' in ending.traceback
