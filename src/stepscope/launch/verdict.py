"""The verdict of `stepscope check`: what was tried, what passed, what is suspicious, what could not be checked and why.

The questions are those a careful person asks by hand before a long training; each is answered by the rules that know.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from stepscope.common.units import counted
from stepscope.diagnose.completeness import incomplete, needs_of
from stepscope.diagnose.learning import Learning, learning
from stepscope.launch.coverage import coverage_of, coverage_text
from stepscope.launch.limits import CHECK_FINISH_S
from stepscope.launch.missing_evidence import missing_evidence
from stepscope.launch.reporting import by_severity
from stepscope.launch.without_torch import needs_torch
from stepscope.records import Finding
from stepscope.records.verdict import Answer, ScriptVerdict, State, Verdict
from stepscope.track.ending import Ending, ending_of

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.evidence.experiments import Outcome
    from stepscope.launch.verdict_facts import Case


@dataclass(frozen=True)
class _Question:
    """What is asked, and the rules and the probe that answer it."""

    text: str
    rules: tuple[str, ...] = ()
    probe: str = ""


_REACH = "gradients reach every trainable parameter"
_RECIPE = (
    _Question("shapes, types and indices fit, on first and last batches", ("shape.*", "dtype.*", "index.*", "api.*")),
    _Question("every tensor is moved to the chosen device", ("device.*",)),
    _Question("the first loss is at chance level", ("init.*",), "loss-at-start"),
    _Question("the model can overfit one batch", ("probe.overfit*",), "overfit-one-batch"),
    _Question("the loss matches the model's output", ("loss.*", "model.output*", "model.final*")),
    _Question("samples of a batch do not influence each other", ("math.*",), "batch-order"),
    _Question(_REACH, ("grad.*", "autograd.*", "opt.*-params", "model.*")),
    _Question("gradients are cleared and steps taken in the right order", ("opt.*", "amp.*", "stop.*")),
    _Question("training and evaluation data do not overlap", ("data.test-*", "data.overlap*")),
    _Question("samples of a dataset are repeatable", ("data.inplace-dataset",), "dataset-determinism"),
    _Question("targets are not part of the inputs", ("data.target-*",)),
    _Question("inputs are finite, scaled and well shuffled", ("data.*",)),
    _Question("evaluation is deterministic", ("mode.*",), "eval-determinism"),
    _Question("all numbers stay finite", ("num.*",)),
    _Question("metrics measure what their names say", ("metric.*", "eval.*")),
    _Question("checkpoints contain what they should", ("io.*",)),
    _Question("memory, speed and random numbers look right", ("mem.*", "perf.*", "repro.*")),
    _Question("processes work together", ("dist.*",)),
)


def _outcomes(case: Case) -> dict[str, Outcome]:
    """What came of the experiments, by name; empty where none were made."""
    made = None if case.engine is None else case.engine.evidence.tables.get("experiments")
    return {} if made is None else dict(made.outcomes)


def answers(case: Case) -> list[Answer]:
    """All questions, in the order a person would ask them; a finding counts for the first it answers."""
    left = [one for one in case.findings if one.severity != "info"]
    missing = missing_evidence(case)
    probed = _outcomes(case)
    given: list[Answer] = []
    for question in _RECIPE:
        found = [one for one in left if _fits(one.rule, question.rules)]
        left = [one for one in left if one not in found]
        outcome = probed.pop(question.probe, None)
        answer = _suspicion(question.text, found) if found else _without_findings(case, question, missing, outcome)
        if answer is not None:
            given.append(answer)
    given += [Answer(name.replace("-", " "), one.state, one.said) for name, one in probed.items()]
    given.append(_after_the_loop(case))
    if left:
        given.append(_suspicion("anything else", left))
    return given


def _suspicion(question: str, found: list[Finding]) -> Answer:
    return Answer(question, "suspicious", ", ".join(dict.fromkeys(one.rule for one in found)))


def _without_findings(
    case: Case, question: _Question, missing: dict[str, str], outcome: Outcome | None
) -> Answer | None:
    """What the probe says, else what the rules say; None where there are no ranks to ask about."""
    if outcome is not None and outcome.state != "not checked":
        return Answer(question.text, outcome.state, outcome.said)
    if question.rules == ("dist.*",) and "ranks" in missing:
        return None
    return _by_rules(case, question, missing, "" if outcome is None else outcome.said)


def _after_the_loop(case: Case) -> Answer:
    """Whether what follows the training was tried: saving, plotting, testing, exporting."""
    question = "the code after the training loop runs"
    if case.limiter.stopped is not None:
        why = f"the loop took more than {CHECK_FINISH_S:.0f} s with one batch per epoch"
        return Answer(question, "not checked", why)
    return Answer(question, "passed", "the script finished; its folder is unchanged")


def _by_rules(case: Case, question: _Question, missing: dict[str, str], why: str) -> Answer:
    """What the rules say that were asked and found nothing; `why` is the reason a probe could not answer instead.

    A rule that saw too little has not passed. Where half of them did, nothing is claimed; a few are named.
    """
    engine = case.engine
    asked = [] if engine is None else [rule for rule in engine.rules if _fits(rule.id, question.rules)]
    if engine is None or not asked:
        without_steps = missing.get("steps") if question.probe else None
        return Answer(question.text, "not checked", why or without_steps or "the rules for it are not selected")
    looking = [rule.id for rule in asked if rule.needs != "crash" and needs_of(rule.id)]
    unproven = incomplete(looking, missing)
    if unproven and 2 * len(unproven) >= len(looking):
        commonest = Counter(unproven.values()).most_common(1)[0][0]
        return Answer(question.text, "not checked", missing[commonest])
    reasons = _left_open(engine, question, {rule.id for rule in asked})
    if why:
        reasons.append(why)
    reasons += _short_of(unproven, missing)
    return _passed(engine, question.text, counted(len(asked) - len(unproven), "rule"), reasons)


def _passed(engine: Engine, question: str, said: str, reasons: list[str]) -> Answer:
    if reasons:
        said += f"; not covered: {'; '.join(reasons)}"
    return _reach(learning(engine.evidence), said) if question == _REACH else Answer(question, "passed", said)


def _left_open(engine: Engine, question: _Question, asked: set[str]) -> list[str]:
    """Why rules about this question could not check the loaders."""
    unchecked = engine.evidence.loader_output.not_checked
    return [reason for rule, reason in unchecked.items() if rule in asked or _fits(rule, question.rules)]


def _reach(seen: Learning, said: str) -> Answer:
    """Whether gradients reach every trainable parameter: claimed only where every tensor was looked at and holds it.

    >>> _reach(Learning(12, []), "9 rules").said
    'all 12 tensors; 9 rules'
    >>> _reach(Learning(12, ["pooler.weight"]), "9 rules").question
    'gradients reach 11 of 12 trainable parameters'
    >>> _reach(Learning(2, ["weight", "bias"]), "9 rules").state
    'suspicious'
    """
    if not seen.looked:
        return Answer(_REACH, "not checked", "no trained parameter was checked")
    if not seen.lost:
        return Answer(_REACH, "passed", f"all {counted(seen.looked, 'tensor')}; {said}")
    names = f"{', '.join(seen.lost[:3])}{' ...' if len(seen.lost) > 3 else ''} got none and did not change"
    state: State = "suspicious" if 2 * len(seen.lost) >= seen.looked else "passed"
    return Answer(f"gradients reach {seen.reached} of {seen.looked} trainable parameters", state, f"{names}; {said}")


def _short_of(unproven: dict[str, str], missing: dict[str, str]) -> list[str]:
    """Which rules did not see enough, and why.

    >>> _short_of({"data.label-noise": "epoch"}, {"epoch": "no complete pass over the training data"})
    ['data.label-noise did not see enough: no complete pass over the training data']
    """
    texts = []
    for need in dict.fromkeys(unproven.values()):
        rules = [rule for rule, unmet in unproven.items() if unmet == need]
        listed = ", ".join(rules) if len(rules) <= 3 else f"{rules[0]} and {len(rules) - 1} others"
        texts.append(f"{listed} did not see enough: {missing[need]}")
    return texts


def _fits(rule: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


def judge(case: Case, error: BaseException | None) -> ScriptVerdict:
    """How the script came off. After a crash only what is suspicious counts: the rest was hardly tried."""
    ended = None if is_success(error) else ending_of(error)
    crashed = ended is not None and not isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit)
    given = _given(case, ended is not None and (crashed or not case.loop.steps))
    without = "" if ended is not None else _unseen_without_torch(case)
    if without and case.around.options.check:
        given = [Answer(without, "not checked")]
    unseen = bool(without) or (ended is None and _are_unchecked(given))
    said = _ended(ended, crashed)
    coverage = coverage_of(case)
    return ScriptVerdict(
        script=case.around.script.path,
        verdict=_outcome_of(case.findings, given, ended, unseen),
        headline="nothing could be checked" if unseen else _headline(case.findings, given, said),
        tried=_tried(case, said),
        watched="" if coverage is None else coverage_text(coverage),
        steps=case.loop.steps or case.children.steps,
        exit_code=case.exit_code() if ended is None else ended.exit_code or 1,
        answers=given,
    )


def _are_unchecked(given: list[Answer]) -> bool:
    return bool(given) and all(one.state == "not checked" for one in given)


def _given(case: Case, hardly_tried: bool) -> list[Answer]:
    """The answers of a check; without one there are none."""
    if not case.around.options.check:
        return []
    given = answers(case)
    if not hardly_tried:
        return given
    suspicious = [one for one in given if one.state == "suspicious"]
    return [*suspicious, Answer("the rest: fix this and check again", "not checked")]


def _unseen_without_torch(case: Case) -> str:
    """Why no check could look at anything, if the script uses no PyTorch; else nothing."""
    if case.findings or case.children.steps:
        return ""
    without = needs_torch(case.around.script.name, case.loop.steps)
    return "" if without is None else f"{without}; all checks look at PyTorch's tensors, models and steps"


def _outcome_of(findings: list[Finding], given: list[Answer], ended: Ending | None, unseen: bool) -> Verdict:
    if ended is not None:
        return "failed"
    if unseen:
        return "not checked"
    grave = any(one.severity != "info" for one in findings) or any(one.state == "suspicious" for one in given)
    return "suspicious" if grave else "passed"


def verdict_text(judged: ScriptVerdict, name: str, findings: list[Finding], quiet: bool = False) -> str:
    """The whole verdict of a check, for people; `quiet` hides what passed, for hooks and logs."""
    lines = [f"stepscope check {name}: {judged.headline}", f"  tried        {judged.tried}"]
    lines += [f"  watched      {judged.watched.removeprefix('watched ')}"] if judged.watched else []
    for state in ("suspicious",) if quiet else ("passed", "suspicious", "not checked"):
        lines += _answer_lines(state, [one for one in judged.answers if one.state == state])
    hidden = [one for one in findings if one.severity == "info"]
    if hidden and not quiet:
        names = ", ".join(dict.fromkeys(one.rule for one in hidden))
        lines.append(f"  hints        {names}; stepscope explain RULE has the details")
    return "\n".join(lines)


def _answer_lines(state: str, given: list[Answer]) -> list[str]:
    """The answers of one state, which labels the first."""
    heads = [state, *[""] * len(given)]
    said = [f" ({answer.said})" if answer.said else "" for answer in given]
    return [f"  {head:<12} {answer.question}{words}" for head, answer, words in zip(heads, given, said, strict=False)]


def _ended(ended: Ending | None, crashed: bool) -> str:
    """In what way it did not come to a good end."""
    if ended is None:
        return ""
    if crashed:
        return "crashed"
    return "was interrupted" if ended.status == "stopped" else f"exited with {ended.exit_code or 1}"


def _headline(findings: list[Finding], given: list[Answer], ended: str) -> str:
    shown = by_severity([one for one in findings if one.severity != "info"])
    if ended:
        told = "it does not run" if ended == "crashed" else f"it {ended}"
        return f"{told}; {shown}" if shown else told
    doubts = sum(answer.state == "suspicious" for answer in given)  # a probe can doubt what no rule accuses
    return shown or (f"{counted(doubts, 'doubt')}, nothing proven" if doubts else "nothing suspicious was found")


def _tried(case: Case, ended: str) -> str:
    loop = case.loop
    parts = [counted(loop.steps, "training step")]
    if case.limiter.epochs:
        parts.append(counted(case.limiter.epochs, "epoch"))
    if loop.batches:
        parts.append(f"{counted(loop.batches, 'batch', 'batches')} of {counted(_loaders(case), 'loader')}")
    if ended:
        return f"{', '.join(parts)}; then it {ended}"
    stopped, finishing = case.limiter.stopped, case.limiter.finishing
    if stopped:
        return f"{', '.join(parts)}; ended {stopped}"
    short = f"{finishing} one batch of each pass, and " if finishing else ""
    return f"{', '.join(parts)}; {short}the script finished"


def _loaders(case: Case) -> int:
    watcher = case.watcher
    return 0 if watcher is None else sum(1 for loader in watcher.loaders.all if loader.epochs)


def is_success(error: BaseException | None) -> bool:
    """Whether plain Python would exit with 0."""
    return error is None or (isinstance(error, SystemExit) and error.code in (None, 0))
