/** The query box: coloured words, completion of fields and values, and the server's objection with a caret under it. */

import { batch, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "../../components";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { useKeys } from "../../keys";
import { call } from "../../lib/api";
import { formatCell, visibleText } from "../../lib/format";
import { type Completion, completionAt, inProject, suggest, type Suggestion, tokens } from "../../lib/query";
import { project } from "../../state";
import { queryError, waiting } from "./data";
import { available, query } from "./settings";

const TYPING_MS = 350;
const MOST_VALUES = 200;

const STATUSES = ["running", "finished", "failed", "killed", "lost", "stopped", "preempted"];
/** Known values by field, fetched when a person first needs them. */
const valuesOf = signal<ReadonlyMap<string, readonly string[]>>(new Map([["status", STATUSES]]));
const asked = new Set<string>(["status"]);

async function fetchValues(field: string): Promise<void> {
  const column = available.peek().find((one) => one.key === field);
  if (asked.has(field) || !column || column.type === "time" || column.type === "duration" || column.distinct > MOST_VALUES) return;
  asked.add(field);
  const request = { query: inProject(project.peek(), "").query, group_by: field, limit: 1 };
  const page = await call("POST /api/runs", request).catch(() => null);
  const found = page?.groups?.filter((group) => group.value !== null).map((group) => formatCell(group.value));
  if (found) valuesOf.value = new Map([...valuesOf.peek(), [field, [...new Set(found)].slice(0, MOST_VALUES)]]);
}

export function QueryBox() {
  const input = useRef<HTMLInputElement>(null);
  const mirror = useRef<HTMLDivElement>(null);
  const draft = useSignal(query.peek());
  const open = useSignal(false);
  const caret = useSignal(0);
  const picked = useSignal(0);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  useEffect(() => {
    if (document.activeElement !== input.current || draft.peek().trim() !== query.value) draft.value = query.value;
  }, [query.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useKeys({ "/": () => input.current?.select() });

  const completion = completionAt(draft.value, caret.value);
  if (open.value && completion.expected === "value") void fetchValues(completion.field);
  const options = open.value ? suggest(completion, available.value, valuesOf.value.get(completion.field) ?? []) : [];

  const apply = () => {
    clearTimeout(timer.current);
    query.value = draft.peek().trim();
  };
  const type = (text: string, at: number) => {
    batch(() => {
      draft.value = text;
      caret.value = at;
      picked.value = 0;
      open.value = true;
    });
    clearTimeout(timer.current);
    timer.current = setTimeout(apply, TYPING_MS);
  };
  const take = (option: Suggestion) => {
    const next = insertion(draft.peek(), completion, option);
    type(next.text, next.caret);
    requestAnimationFrame(() => input.current?.setSelectionRange(next.caret, next.caret));
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && options.length) {
      event.preventDefault();
      picked.value = (picked.value + step + options.length) % options.length;
    } else if (event.key === "Tab" && options[picked.value] && completion.typed !== "") {
      event.preventDefault();
      take(options[picked.value] as Suggestion);
    } else if (event.key === "Enter") {
      const option = options[picked.value];
      if (option && (picked.value > 0 || isUnfinished(completion, option))) take(option);
      else {
        apply();
        open.value = false;
      }
    } else if (event.key === "Escape") {
      if (open.value && options.length) open.value = false;
      else input.current?.blur();
    }
  };
  const follow = () => {
    caret.value = input.current?.selectionStart ?? 0;
    if (mirror.current && input.current) mirror.current.scrollLeft = input.current.scrollLeft;
  };
  const error = query.value === draft.value.trim() ? queryError.value : null;

  return (
    <div class="query">
      <div class="query-field" data-bad={error ? true : undefined} data-waiting={waiting.value || undefined}>
        <SearchIcon size={14} />
        <div class="query-text">
          <div ref={mirror} class="query-mirror" aria-hidden="true">
            <Coloured text={draft.value} bad={error?.column ?? null} />
          </div>
          <input
            ref={input}
            type="text"
            role="combobox"
            aria-label="Query"
            aria-expanded={options.length > 0}
            aria-controls="query-options"
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? "query-error" : undefined}
            aria-activedescendant={options.length ? `query-option-${picked.value}` : undefined}
            placeholder="Filter runs: status = failed and config.lr < 0.01"
            autocomplete="off"
            spellcheck={false}
            maxLength={2000}
            value={draft.value}
            onInput={(event) => type(event.currentTarget.value, event.currentTarget.selectionStart ?? 0)}
            onKeyDown={onKey}
            onKeyUp={follow}
            onScroll={follow}
            onClick={() => (follow(), (open.value = true))}
            onFocus={follow}
            onBlur={() => (apply(), (open.value = false))}
          />
        </div>
        {draft.value ? (
          <IconButton label="Clear the query" class="query-clear" onClick={() => (type("", 0), apply(), (open.value = false))}>
            <CloseIcon size={12} />
          </IconButton>
        ) : (
          <kbd class="key">/</kbd>
        )}
      </div>
      {options.length > 0 ? <Options options={options} picked={picked.value} onTake={take} /> : null}
      {error && options.length === 0 ? <QueryProblem text={draft.value} error={error} /> : null}
    </div>
  );
}

/** Enter takes a suggestion only while a word is half typed; otherwise it runs the query. */
function isUnfinished(completion: Completion, option: Suggestion): boolean {
  return completion.typed !== "" && completion.expected !== "operator" && completion.expected !== "join" && completion.typed !== option.label && option.label.toLowerCase().startsWith(completion.typed.toLowerCase());
}

function insertion(text: string, completion: Completion, option: Suggestion): { text: string; caret: number } {
  const before = text.slice(0, completion.from);
  const after = text.slice(completion.to).replace(/^ /, "");
  return { text: before + option.insert + after, caret: before.length + option.insert.length };
}

function Coloured({ text, bad }: { text: string; bad: number | null }) {
  const parts = [];
  let at = 0;
  for (const token of tokens(text)) {
    if (token.start > at) parts.push(text.slice(at, token.start));
    const wrong = bad !== null && token.start <= bad && bad < token.end;
    parts.push(
      <span key={token.start} class={`q-${token.kind}`} data-wrong={wrong || undefined}>
        {token.text}
      </span>,
    );
    at = token.end;
  }
  parts.push(text.slice(at));
  return <>{parts}</>;
}

function Options({ options, picked, onTake }: { options: readonly Suggestion[]; picked: number; onTake(option: Suggestion): void }) {
  return (
    <div class="query-options" id="query-options" role="listbox" aria-label="Suggestions">
      {options.map((option, index) => (
        <div
          key={option.label}
          id={`query-option-${index}`}
          class="query-option"
          role="option"
          aria-selected={index === picked}
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(option);
          }}
        >
          <span class="mono isolate ellipsis">{visibleText(option.label)}</span>
          <span class="quiet">{option.detail}</span>
        </div>
      ))}
    </div>
  );
}

function QueryProblem({ text, error }: { text: string; error: { message: string; hint: string | null; column: number | null } }) {
  return (
    <div class="query-problem" id="query-error" role="alert">
      {error.column !== null ? (
        <pre aria-hidden="true">
          {visibleText(text)}
          {"\n"}
          {" ".repeat(error.column)}
          <b>^</b>
        </pre>
      ) : null}
      <p class="isolate">{visibleText(error.message)}</p>
      {error.hint ? <p class="quiet isolate">{visibleText(error.hint)}</p> : null}
    </div>
  );
}
