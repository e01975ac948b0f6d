/** What people say about a run, a step of its chart, or a report; only a team's server has it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button, ErrorState, Skeleton, TextInput } from "../../components";
import { TrashIcon } from "../../components/icons";
import { Markdown } from "../../components/markdown";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { panelId } from "../../lib/chart-sections";
import { formatAge, formatTimeZone, visibleText } from "../../lib/format";
import { onLive } from "../../lib/live";
import { completed, placeWords, typedName } from "../../lib/mentions";
import type { CommentRow } from "../../lib/schema";
import { attempt, useListed } from "../people/ask";
import { linkToPart } from "../run/place";
import "../../style/comments.css";

export interface Topic {
  run?: string;
  report?: string;
  /** Only what is said about this chart of the run. */
  chart?: string;
}

export function Comments({ run, report, chart, step = "" }: Topic & { step?: string }) {
  const subject = run === undefined ? { report: report ?? "" } : { run };
  const list = useListed(() => call("POST /api/comments", subject), run ?? report);
  useEffect(() => {
    const key = run === undefined ? `report:${report}` : `run:${run}`;
    return onLive((event) => event.comments.includes(key) && void list.read());
  }, [run, report]);
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  if (!list.found) return <Skeleton height={60} />;
  const shown = list.found.comments.filter((one) => chart === undefined || one.chart === chart);
  const add = (text: string, at: string) =>
    attempt(async () => {
      const place = { chart: chart ?? null, step: chart === undefined || at === "" ? null : Number(at) };
      list.set(await call("POST /api/comments/add", { ...subject, ...place, text }));
    }, "Your comment was not saved");
  const remove = (id: string) =>
    attempt(async () => list.set(await call("POST /api/comments/remove", { id })), "Not removed");
  return (
    <div class="comments">
      {shown.length > 0 ? (
        <ol>
          {shown.map((one) => (
            <Said key={one.id} comment={one} bare={chart !== undefined} onRemove={() => void remove(one.id)} />
          ))}
        </ol>
      ) : null}
      <Write step={chart === undefined ? null : step} onSend={add} />
    </div>
  );
}

function Said({ comment, bare, onRemove }: { comment: CommentRow; bare: boolean; onRemove(): void }) {
  const place = placeWords(bare ? { ...comment, chart: null } : comment);
  return (
    <li>
      <header>
        <strong class="isolate">{visibleText(comment.user)}</strong>
        <time class="quiet" title={formatTimeZone(comment.created)}>
          {formatAge(comment.created, now.value)}
        </time>
        {place && comment.run ? (
          <a class="isolate" href={chartLink(comment)}>
            {visibleText(place)}
          </a>
        ) : null}
        <span class="spring" />
        {comment.mine ? (
          <Button kind="quiet" title="Remove this comment" onClick={onRemove}>
            <TrashIcon size={12} /> Remove
          </Button>
        ) : null}
      </header>
      <Markdown text={comment.text} class="markdown isolate" />
    </li>
  );
}

/** The chart, enlarged, with a marker at the step. */
function chartLink({ run, chart, step }: CommentRow): string {
  return linkToPart(run ?? "", "charts", {
    full: chart === null ? "" : panelId({ kind: "scalar", key: chart }),
    mark: step === null ? "" : String(step),
  });
}

interface WriteProps {
  /** What the field for a step begins with; null where there is none. */
  step: string | null;
  onSend(text: string, step: string): Promise<boolean>;
}

function Write({ step, onSend }: WriteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(step ?? "");
  const [caret, setCaret] = useState(0);
  const [sending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const send = async () => {
    if (!text.trim() || sending) return;
    setSending(true);
    if (await onSend(text, at)) setText("");
    setSending(false);
  };
  const follow = () => {
    setText(box.current?.value ?? "");
    setCaret(box.current?.selectionStart ?? 0);
  };
  const complete = (name: string) => {
    const next = completed(text, caret, name);
    setText(next.text);
    setCaret(next.caret);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  return (
    <form class="comments-write" onSubmit={(event) => (event.preventDefault(), void send())}>
      <textarea
        ref={box}
        class="isolate"
        aria-label="Comment"
        placeholder="Comment; @name notifies someone"
        rows={2}
        value={text}
        onInput={follow}
        onClick={follow}
        onKeyUp={follow}
        onKeyDown={(event) => {
          event.stopPropagation(); // letters are keys of the page behind
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <Names typed={typedName(text, caret)?.start ?? null} onPick={complete} />
      <div class="comments-send">
        {step === null ? null : (
          <TextInput
            label="Step"
            placeholder="Step (optional)"
            inputMode="numeric"
            value={at}
            bad={!isStep(at)}
            onInput={setAt}
          />
        )}
        <span class="spring" />
        <span class="quiet">Ctrl+Enter sends</span>
        <Button kind="primary" type="submit" disabled={!text.trim() || sending || !isStep(at)}>
          Comment
        </Button>
      </div>
    </form>
  );
}

const isStep = (text: string): boolean => /^-?\d{0,15}$/.test(text.trim());

const MOST_NAMES = 6;

/** People whose names begin as the one that is being typed. */
function Names({ typed, onPick }: { typed: string | null; onPick(name: string): void }) {
  const [people, setPeople] = useState<readonly string[]>([]);
  const typing = typed !== null;
  useEffect(() => {
    if (typing && people.length === 0)
      void call("POST /api/people", {}).then(
        (answer) => setPeople(answer.people.filter((one) => !one.disabled).map((one) => one.name)),
        () => undefined, // A name can be typed without help.
      );
  }, [typing]);
  if (typed === null) return null;
  const fitting = people.filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()) && name !== typed);
  if (fitting.length === 0) return null;
  return (
    <div class="comments-names" role="group" aria-label="People">
      {fitting.slice(0, MOST_NAMES).map((name) => (
        <button key={name} type="button" class="pill ellipsis mute-choice isolate" onClick={() => onPick(name)}>
          @{visibleText(name)}
        </button>
      ))}
    </div>
  );
}
