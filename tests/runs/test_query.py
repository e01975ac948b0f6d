"""The run query language: what it finds, what it refuses, and that no query can hurt."""

from __future__ import annotations

import math
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import QueryError
from stepscope.runs.query.evaluate import glob
from stepscope.runs.query.fields import field_key
from stepscope.runs.query.query import Field, parse, parse_field

NOW = datetime(2026, 11, 15, 12).timestamp()
DOCS = Path(__file__).parents[2] / "docs" / "query.md"


class FakeRun:
    """A run as plain dictionaries."""

    def __init__(self, run: dict[str, Any], config: dict[str, Any], metrics: dict[tuple[str, str], float]) -> None:
        self.run = run
        self.config = config
        self.metrics = metrics

    def value(self, field: Field, now: float) -> Any:
        if field.source == "config":
            return self.config.get(field.name)
        if field.source in ("metric", "summary"):
            return self.metrics.get((field.name, field.stat or "last"))
        if field.name == "age":
            return now - self.run["created"]
        return self.run.get(field.name)


def a_run(**changes: Any) -> FakeRun:
    config = changes.pop("config", {"lr": 0.001, "optimizer": "adam", "amp": True, "model/depth": 4, "layers": [8, 16]})
    metrics = changes.pop("metrics", {("loss", "last"): 0.25, ("loss", "min"): 0.2, ("loss", "count"): 50})
    facts = {
        "name": "VAE first try",
        "project": "digits",
        "id": "01JCQ4",
        "status": "finished",
        "tags": ["baseline", "small"],
        "notes": "",
        "created": datetime(2026, 11, 14, 12).timestamp(),
        "ended": None,
        "duration": 1200.0,
        "findings": 0,
        "dropped": 0,
        "git.branch": "main",
        "git.commit": "4f2a99",
    }
    return FakeRun({**facts, **changes}, config, metrics)


def finds(query: str, run: FakeRun | None = None) -> bool:
    return parse(query).matches(run or a_run(), now=NOW)


EXAMPLES = {
    "vae": (a_run(), a_run(name="gan", project="p")),
    "vae baseline": (a_run(), a_run(tags=[])),
    '"first try"': (a_run(), a_run(name="try first")),
    "status = failed": (a_run(status="failed"), a_run()),
    "status in (killed, lost)": (a_run(status="lost"), a_run()),
    "config.lr < 0.01": (a_run(), a_run(config={})),
    "config.optimizer = adam and config.lr >= 1e-3": (a_run(), a_run(config={"optimizer": "adam", "lr": 1e-4})),
    "config.model/depth in (2, 4, 8)": (a_run(), a_run(config={"model/depth": 3})),
    'config."data/root dir" ~ imagenet': (a_run(config={"data/root dir": "/data/ImageNet-1k"}), a_run()),
    "config.amp = true": (a_run(), a_run(config={"amp": False})),
    "config.warmup is null": (a_run(), a_run(config={"warmup": 3})),
    "loss < 0.3": (a_run(), a_run(metrics={("loss", "last"): 0.4})),
    "loss.min < 0.3 and val/acc.max > 0.9": (
        a_run(metrics={("loss", "min"): 0.1, ("val/acc", "max"): 0.95}),
        a_run(metrics={("loss", "min"): 0.1}),
    ),
    "loss = nan or loss.nan > 0": (a_run(metrics={("loss", "last"): math.nan}), a_run()),
    '"odd name".max >= 2': (a_run(metrics={("odd name", "max"): 2.0}), a_run()),
    "tags = baseline": (a_run(), a_run(tags=[])),
    "tags != broken": (a_run(), a_run(tags=["broken", "x"])),
    "name ~ vae-*-small": (a_run(name="VAE-9-small"), a_run(name="my vae-9-small")),
    "not (name ~ debug or tags = debug)": (a_run(), a_run(name="Debug 3")),
    "created >= 2026-11-01 and created < 2026-11-15": (a_run(), a_run(created=NOW)),
    "created = 2026-11-02": (a_run(created=datetime(2026, 11, 2, 23, 59).timestamp()), a_run()),
    "age < 3d and duration > 15m": (a_run(), a_run(duration=60.0)),
    "findings > 0": (a_run(findings=1), a_run()),
    "dropped > 0": (a_run(dropped=1), a_run()),
    "git.branch = main and git.commit ~ 4f2a*": (a_run(), a_run(**{"git.branch": "dev"})),
    "loss.count < 100": (a_run(), a_run(metrics={("loss", "count"): 100})),
    "summary.best_epoch >= 7": (a_run(metrics={("best_epoch", "last"): 7}), a_run()),
}


def test_every_example_of_the_docs_page_finds_one_run_and_not_the_other() -> None:
    table = DOCS.read_text().split("## Examples")[1].split("## Fields")[0]
    documented = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert documented == list(EXAMPLES)
    for query, (yes, no) in EXAMPLES.items():
        assert (finds(query, yes), finds(query, no)) == (True, False), query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", True),
        ("   ", True),
        ("name = 'VAE first try'", True),
        ("name = 'vae first try'", False),
        ("STATUS = finished AND NOT name ~ gan", True),
        ("config.lr = 0.001", True),
        ("config.lr == 1e-3", True),
        ("config.lr != 0.001", False),
        ("config.missing != 3", False),
        ("config.missing not in (3)", False),
        ("not config.missing = 3", True),
        ("config.missing = null", True),
        ("config.lr != null", True),
        ("config.lr is not missing", True),
        ("tags not in (a, b)", True),
        ("tags not in (small, b)", False),
        ("tags ~ base", True),
        ("config.layers = 16", True),
        ("config.amp = 1", False),
        ("config.optimizer !~ SGD", True),
        ("config.optimizer < 5", False),
        ("loss.min < inf", True),
        ("loss > -1e3", True),
        ("loss = 0.25", True),
        ("created > 2026-11-14", False),
        ("created >= 2026-11-14", True),
        ("created <= 2026-11-14", True),
        ("created < 2026-11-14", False),
        ("created < 2026-11-14T12:01", True),
        ("created >= 2026-11-14T12:00:00", True),
        ("duration = 20m", True),
        ("duration < 1h30m", True),
        ("age = 24h", True),
        ("vae or gan", True),
        ("digits and small", True),
        ("va*try", True),
        ("(((vae)))", True),
        ("gan or vae and status = failed", False),
        ("not gan and vae", True),
    ],
)
def test_finds(query: str, expected: bool) -> None:
    assert finds(query) is expected


@pytest.mark.parametrize(
    ("query", "position", "message"),
    [
        ("status = fialed", 9, "did you mean failed?"),
        ("statsu = failed", 0, "did you mean status"),
        ("loss.min 0.3", 9, "expected an operator"),
        ("loss.min", 8, "expected an operator"),
        ("status", 6, "expected an operator"),
        ("name = first try", 13, "text with spaces needs quotes"),
        ("vae status = failed", 4, "expected 'and' or 'or' before 'status'"),
        ("config.lr <", 11, "found the end of the query"),
        ("config.lr < < 3", 12, "expected a value"),
        ("(loss < 1", 0, "never closed"),
        ("loss < 1)", 8, "no more ')'"),
        ("a in (1, 2", 5, "never closed"),
        ("a in (1 2)", 8, "',' or ')'"),
        ("a in 1", 5, "expected a list"),
        ("a = 'x", 4, "this quote is never closed"),
        ("a = 1 & b = 2", 6, "write 'and'"),
        ("created < 3d", 10, "use age < 3d"),
        ("age < 2026-11-01", 6, "length of time"),
        ("loss < abc", 7, "expected a number"),
        ("tags < a", 5, "tags have no order"),
        ("git.comit = x", 0, "did you mean git.commit"),
        ("config. = 3", 0, "there is no field"),
        ("3 < loss", 0, "expected a field left of the operator"),
        ("x is 3", 5, "'null' or 'missing'"),
        ("name = and", 7, "needs quotes"),
        ("loss < null", 5, "is null"),
        ("vae 3", 4, "put it in quotes"),
        ("not", 3, "the end of the query"),
        ("()", 1, "expected a field"),
        ("loss < 1 or", 11, "the end of the query"),
    ],
)
def test_an_error_points_at_the_wrong_character_and_says_what_was_expected(
    query: str, position: int, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    assert caught.value.position == position
    assert message in caught.value.message
    assert str(caught.value).splitlines()[-1] == "  " + " " * position + "^"


def test_a_field_that_no_run_has_is_named_with_the_closest_ones() -> None:
    known = {"config.lr", "config.model/depth", "loss", "val/acc"}
    parse("config.lr < 1 and val/acc.max > 0 and config.model.depth = 3").check(known)
    with pytest.raises(QueryError, match=r"no run has a metric 'lr'; did you mean config\.lr\?"):
        parse("status = failed and lr < 0.1").check(known)
    with pytest.raises(QueryError, match="did you mean loss") as caught:
        parse("status = failed and los.min < 0.1").check(known)
    assert caught.value.position == 20
    with pytest.raises(QueryError, match=r"no run has a config value 'momentum'\n"):
        parse("config.momentum < 0.1").check(known)
    parse("anything < 3").check(set())


def test_the_fields_of_a_query_come_once_each_in_order() -> None:
    fields = parse("loss.min < 1 and (config.lr = 1 or not loss.min > 0) and status = failed and vae").fields
    assert [field.key for field in fields] == ["loss.min", "config.lr", "status"]


@given(
    st.sampled_from(["config", "metric", "summary"]),
    st.text(min_size=1, max_size=20).filter(lambda text: "\x00" not in text),
)
def test_any_name_can_be_written_as_a_field_and_read_back(source: Any, name: str) -> None:
    field = Field(source, name, "max" if source == "metric" else "")
    assert parse_field(field_key(field)) == field


@pytest.mark.parametrize("text", ["", "a b", "git.x", "(", "config.", "a ="])
def test_what_is_no_field_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse_field(text)


# -- against a naive evaluator ---------------------------------------------------------------------------------

CONFIG_VALUES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, math.nan, math.inf, "a"]))
LEAVES = st.builds(
    lambda name, op, value: (f"config.{name}", op, value),
    st.sampled_from("xyz"),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.one_of(st.integers(-3, 3), st.sampled_from([0.5, math.nan, math.inf, -math.inf])),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=8,
)


def naive(tree: tuple[Any, ...], config: dict[str, Any]) -> bool:
    if tree[0] == "not":
        return not naive(tree[1], config)
    if tree[0] == "and":
        return naive(tree[1], config) and naive(tree[2], config)
    if tree[0] == "or":
        return naive(tree[1], config) or naive(tree[2], config)
    name, op, value = tree
    found = config.get(name.removeprefix("config."))
    if found is None:
        return False
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    same = is_number and (found == value or (math.isnan(found) and math.isnan(value)))
    if op in ("=", "!="):
        return same if op == "=" else not same
    return is_number and {"<": found < value, "<=": found <= value, ">": found > value, ">=": found >= value}[op]


def written(tree: tuple[Any, ...]) -> str:
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    if tree[0] in ("and", "or"):
        return f"({written(tree[1])}) {tree[0]} ({written(tree[2])})"
    return f"{tree[0]} {tree[1]} {tree[2]}"


@settings(max_examples=300, deadline=None)
@given(TREES, st.dictionaries(st.sampled_from("xyz"), CONFIG_VALUES))
def test_agrees_with_a_naive_evaluator(tree: tuple[Any, ...], config: dict[str, Any]) -> None:
    assert finds(written(tree), a_run(config=config)) == naive(tree, config)


def naive_glob(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(naive_glob(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and naive_glob(pattern[1:], text[1:])


@settings(max_examples=400, deadline=None)
@given(st.text("ab*?", max_size=7), st.text("ab", max_size=9))
def test_globs_agree_with_a_naive_matcher(pattern: str, text: str) -> None:
    assert glob(pattern, text) is naive_glob(pattern, text)


# -- hostile queries -------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.text("ab.c=<>!~()'\"\\, 12-:*?&|\nandornotinis", max_size=60))
def test_any_text_is_a_query_or_a_query_error(text: str) -> None:
    position = 0
    try:
        finds(text)
    except QueryError as refused:
        position = refused.position
    assert 0 <= position <= len(text)


@pytest.mark.parametrize(
    "query",
    [
        "(" * 1000 + "a" + ")" * 500,
        "not " * 400 + "a",
        "a" * 5000,
        "(" * 10_000_000,
        " and ".join(["not (a = 1)"] * 300),
    ],
)
def test_a_huge_query_is_refused_at_once(query: str) -> None:
    began = time.process_time()
    with pytest.raises(QueryError):
        parse(query)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("pattern", ["(a+)+$", "*a" * 200 + "b", "*?a?*" * 100 + "b", "?a*" * 300])
def test_no_pattern_makes_the_search_hang(pattern: str) -> None:
    run = a_run(notes="a" * 100_000, name="a" * 50_000)
    began = time.process_time()
    finds(f"notes ~ '{pattern}' or name ~ '{pattern}'", run)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "query",
    [
        "tag = baseline",
        "tag in (other, small)",
        "state = finished",
        "runtime < 1h",
        "branch = main && commit ~ 4f",
        "tag = nothing || tag = small",
        "Tag = baseline",
    ],
)
def test_the_words_that_people_try_first_work_too(query: str) -> None:
    assert parse(query).matches(a_run(), NOW)


def test_such_a_word_alone_still_searches_names_and_a_metric_of_that_name_is_found_in_quotes() -> None:
    assert parse("branch").matches(a_run(name="a branch"), NOW)
    assert parse_field('"state"') == Field("metric", "state", "last")
