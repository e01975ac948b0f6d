"""Secrets made up at random in the shapes of the field, and their wrappings. Shared with bench/masking.py."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["NAMED_WRAPPINGS", "SHAPES", "WRAPPINGS", "Case", "cases"]

_LOWER = string.ascii_lowercase
_ALNUM = string.ascii_letters + string.digits
_URL = _ALNUM + "-_"
_HEX = "0123456789abcdef"


def _text(rng: random.Random, count: int, letters: str = _ALNUM) -> str:
    """Random letters with at least one digit, as all of these formats have in practice."""
    made = [rng.choice(letters) for _ in range(count)]
    made[rng.randrange(1, count - 1)] = rng.choice("0123456789")
    return "".join(made)


def _jwt(rng: random.Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = json.dumps({"sub": _text(rng, 10), "exp": rng.randrange(10**9)}).encode()
    return f"{head}.{base64.urlsafe_b64encode(body).decode().rstrip('=')}.{_text(rng, 43, _URL)}"


def _discord(rng: random.Random) -> str:
    user = base64.b64encode(str(rng.randrange(3 * 10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{_text(rng, 6, _URL)}.{_text(rng, 38, _URL)}"


SHAPES: dict[str, Callable[[random.Random], str]] = {
    "aws-key-id": lambda rng: "AKIA" + _text(rng, 16, string.ascii_uppercase + "234567"),
    "gcp-api-key": lambda rng: "AIza" + _text(rng, 35, _URL),
    "gcp-oauth": lambda rng: "ya29." + _text(rng, 60, _URL),
    "azure-client": lambda rng: _text(rng, 3) + "8Q~" + _text(rng, 34, _ALNUM + "_-"),
    "azure-storage": lambda rng: _text(rng, 86, _ALNUM + "+/") + "==",
    "github": lambda rng: rng.choice(["ghp_", "gho_", "ghs_"]) + _text(rng, 36),
    "github-fine": lambda rng: "github_pat_" + _text(rng, 22) + "_" + _text(rng, 59),
    "gitlab": lambda rng: "glpat-" + _text(rng, 20, _URL),
    "huggingface": lambda rng: "hf_" + _text(rng, 34),
    "wandb": lambda rng: "wandb_v1_" + _text(rng, 77),
    "openai": lambda rng: "sk-proj-" + _text(rng, 48, _URL),
    "anthropic": lambda rng: "sk-ant-api03-" + _text(rng, 93, _URL),
    "slack": lambda rng: f"xoxb-{rng.randrange(10**11, 10**12)}-{rng.randrange(10**11, 10**12)}-{_text(rng, 24)}",
    "discord": _discord,
    "telegram": lambda rng: f"{rng.randrange(10**9, 10**10)}:AA{_text(rng, 33, _URL)}",
    "sendgrid": lambda rng: f"SG.{_text(rng, 22, _URL)}.{_text(rng, 43, _URL)}",
    "stripe": lambda rng: rng.choice(["sk_live_", "rk_live_", "sk_test_"]) + _text(rng, 24),
    "npm": lambda rng: "npm_" + _text(rng, 36),
    "pypi": lambda rng: "pypi-AgEIcHlwaS5vcmc" + _text(rng, 120, _URL),
    "databricks": lambda rng: "dapi" + _text(rng, 32, _HEX),
    "jwt": _jwt,
    # Without a shape of their own: known by the name beside them.
    "aws-secret": lambda rng: _text(rng, 40, _ALNUM + "+/"),
    "hex-key": lambda rng: _text(rng, 40, _HEX),
    "password": lambda rng: rng.choice(string.ascii_letters) + _text(rng, rng.randrange(7, 18), _ALNUM + "!@#%^*_+?~"),
    "word-password": lambda rng: _text(rng, rng.randrange(4, 8), _LOWER) + str(rng.randrange(10, 9999)),
}
NAME_ONLY = ("aws-secret", "hex-key", "password", "word-password")

WRAPPINGS: dict[str, str] = {
    "alone": "{}",
    "prose": "I used {} to log in.",
    "log": "2026-11-16 10:22:01,123 INFO train.hub:42 using {} now",
    "brackets": "values=[{}, 2]",
    "call": "login({!r}, retry=3)",
    "repr": "'first\\n{}\\nlast'",
    "url-path": "GET https://api.example.org/v1/{}/send 200",
    "url-query": "https://example.org/x?v=1&z={}&page=2",
    "markdown": "- `{}` is what we use",
    "csv": "a,{},c",
    "color": "\x1b[1m\x1b[32m{}\x1b[0m done",
    "exception": "RuntimeError: 401 for {}",
}
"""Where only the secret's own shape gives it away."""

NAMED_WRAPPINGS: dict[str, str] = {
    "equals": "password={}",
    "log-prefix": "WARNING:root:password={}",
    "log-prefix-2": "INFO:app.db:api_key={} retry=3",
    "log-colon": "error: token={}",
    "exception": "ValueError: password={}",
    "exception-colon": "KeyError: bad secret: {}",
    "python": "db_password = '{}'",
    "python-annotated": 'api_key: str = "{}"',
    "python-call": 'connect(host="db", password="{}", timeout=3)',
    "python-dict": "{{'api_key': '{}', 'lr': 0.1}}",
    "python-item": 'os.environ["HF_TOKEN"] = "{}"',
    "python-tuple": "[('lr', 0.1), ('password', '{}')]",
    "namespace": "Namespace(lr=0.1, api_key='{}', seed=1)",
    "json": '{{"password": "{}", "n": 3}}',
    "json-pretty": '{{\n  "client_secret":\n    "{}"\n}}',
    "json-in-string": '{{"body": "{{\\"password\\": \\"{}\\"}}"}}',
    "json-env": '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "yaml": "db:\n  host: x\n  password: {}\n  port: 1",
    "yaml-quoted": "secret_key: '{}'",
    "yaml-block": "password: |\n  {}\nother: 1",
    "toml": 'api_key = "{}"',
    "ini": "[db]\npassword = {}\nhost = x",
    "dotenv": "export WANDB_API_KEY={}",
    "dotenv-quoted": 'AWS_SECRET_ACCESS_KEY="{}"  # ours',
    "shell-flag": "python train.py --password {} --lr 0.1",
    "shell-flag-equals": "python train.py --api-key={} --lr 0.1",
    "shell-env": "PGPASSWORD={} psql -h db",
    "curl-user": "curl -u me:{} https://example.org",
    "curl-header": "curl -H 'Authorization: Bearer {}' https://example.org",
    "header": "Authorization: Bearer {}\nAccept: */*",
    "header-key": "X-Api-Key: {}\r\nAccept: */*",
    "header-dict": "{{'Authorization': 'token {}'}}",
    "cookie": "Cookie: theme=dark; session={}; x=1",
    "dsn-odbc": "Server=db;User Id=sa;Password={};Encrypt=no",
    "dsn-libpq": "host=db user=me password={} dbname=x",
    "dsn-azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core",
    "jdbc": "jdbc:mysql://db/x?user=me&password={}&ssl=true",
    "sas": "https://x.blob.core.windows.net/c?sv=2022&sig={}&se=2026",
    "presigned": "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Security-Token={}",
    "xml": "<server><password>{}</password></server>",
    "netrc": "machine api.example.org login me password {}",
    "diff": "@@ -1 +1 @@\n-lr = 1\n+api_key = '{}'\n",
    "diff-env": "+DB_PASSWORD={}",
    "color": "\x1b[36mpassword\x1b[0m=\x1b[35m{}\x1b[0m",
    "color-json": '\x1b[34m"token"\x1b[0m: \x1b[32m"{}"\x1b[0m',
    "prose": "The API key is {} for now",
    "hydra": "model=bert +db.password={} lr=0.1",
    "traceback": '  File "a.py", line 3, in f\n    connect(password="{}")\nOSError: refused',
    "table": "│ password │ {} │",
    "query-encoded": "next=%2Flogin%3Fpassword%3D{}%26x%3D1",
}
"""Where the name beside it gives it away. These are the 50 wrappings of the issue."""
_RANDOM_ONLY = {"sas", "prose", "cookie"}
"""The name (`sig`, or a sentence) may stand for something harmless: only values that look random are masked there."""
_BREAKS = {
    "query-encoded": "%&+#?!@^*~",
    "jdbc": "&#%+",
    "sas": "&#",
    "presigned": "&#",
    "curl-user": "@'",
    "shell-flag": "'",
}
"""Letters that this syntax would have encoded."""


class Case(NamedTuple):
    shape: str
    wrapping: str
    secret: str
    text: str


def cases(count: int, seed: int = 20) -> Iterator[Case]:
    """`count` secrets, each in one wrapping: shapes in turn, wrappings in turn, all pairs in the end."""
    rng = random.Random(seed)
    named, bare = list(NAMED_WRAPPINGS), list(WRAPPINGS)
    made = 0
    while made < count:
        for shape, make in SHAPES.items():
            secret = make(rng)
            use_name = shape in NAME_ONLY or rng.random() < 0.7
            wrapping = rng.choice(named if use_name else bare)
            template = (NAMED_WRAPPINGS if use_name else WRAPPINGS)[wrapping]
            if use_name and shape.endswith("password") and wrapping in _RANDOM_ONLY:
                continue
            secret = "".join("x" if letter in _BREAKS.get(wrapping, "") and use_name else letter for letter in secret)
            yield Case(shape, f"{'named' if use_name else 'bare'}/{wrapping}", secret, template.format(secret))
            made += 1
            if made == count:
                return
