/** The query box: coloured words, completion of fields and values, and the server's objection with a caret under it. */

import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { IconButton } from "../../components";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { useKeys } from "../../keys";
import { visibleText } from "../../lib/format";
import { type Suggestion, tokens } from "../../lib/query";
import { queryError, waiting } from "./data";
import { apply, caret, clear, completion, draft, open, options, picked, take, takenByEnter, type } from "./query-draft";
import { SavedQueries } from "./saved-queries";
import { query } from "./settings";

export function QueryBox() {
  const input = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => input.current?.select() });
  const error = query.value === draft.value.trim() ? queryError.value : null;
  const pick = (option: Suggestion) => {
    const at = take(option);
    if (!input.current) return;
    // At once, not with the next drawing: the next letter may be typed before it.
    input.current.value = draft.peek();
    input.current.setSelectionRange(at, at);
  };
  return (
    <div class="query">
      <div
        class="hstack gap-2 raised quiet query-field"
        data-bad={error ? true : undefined}
        data-waiting={waiting.value || undefined}
      >
        <SearchIcon size={14} />
        <Field input={input} bad={error?.column ?? null} invalid={error !== null} onPick={pick} />
        {draft.value ? (
          <IconButton label="Clear the query" class="query-clear" onClick={clear}>
            <CloseIcon size={12} />
          </IconButton>
        ) : (
          <kbd class="key">/</kbd>
        )}
        <SavedQueries />
      </div>
      {options.value.length > 0 ? <Options onTake={pick} problem={error?.message ?? null} /> : null}
      {error && options.value.length === 0 ? <QueryProblem text={draft.value} error={error} /> : null}
    </div>
  );
}

interface FieldProps {
  input: RefObject<HTMLInputElement>;
  /** The letter that is wrong. */
  bad: number | null;
  invalid: boolean;
  onPick(option: Suggestion): void;
}

/** A plain text field whose letters are transparent, over the same letters in colour. */
function Field({ input, bad, invalid, onPick }: FieldProps) {
  const mirror = useRef<HTMLDivElement>(null);
  const follow = () => {
    caret.value = input.current?.selectionStart ?? 0;
    if (mirror.current && input.current) mirror.current.scrollLeft = input.current.scrollLeft;
  };
  return (
    <div class="fill anchor query-text">
      <div ref={mirror} class="query-mirror" aria-hidden="true">
        <Coloured text={draft.value} bad={bad} />
      </div>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Query"
        aria-expanded={options.value.length > 0}
        aria-controls={options.value.length > 0 ? "query-options" : undefined}
        aria-invalid={invalid || undefined}
        aria-describedby={invalid ? "query-error" : undefined}
        aria-activedescendant={options.value.length ? `query-option-${picked.value}` : undefined}
        placeholder="Filter runs: status = failed and config.lr < 0.01"
        autocomplete="off"
        spellcheck={false}
        maxLength={2000}
        value={draft.value}
        onInput={(event) => type(event.currentTarget.value, event.currentTarget.selectionStart ?? 0)}
        onKeyDown={(event) => onKey(event, onPick)}
        onKeyUp={follow}
        onScroll={follow}
        onClick={() => (follow(), (open.value = true))}
        onFocus={follow}
        onBlur={() => (apply(), (open.value = false))}
      />
    </div>
  );
}

function onKey(event: KeyboardEvent, onPick: (option: Suggestion) => void): void {
  const list = options.peek();
  const here = list[picked.peek()];
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step && list.length) {
    event.preventDefault();
    picked.value = (picked.peek() + step + list.length) % list.length;
  } else if (event.key === "Tab" && here && completion.peek().typed !== "") {
    event.preventDefault();
    onPick(here);
  } else if (event.key === "Enter") {
    const option = takenByEnter();
    if (option) return onPick(option);
    apply();
    open.value = false;
  } else if (event.key === "Escape") {
    if (list.length) open.value = false;
    else (event.target as HTMLElement).blur();
  }
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

/** What may come next; what is wrong so far stands above it. */
function Options({ onTake, problem }: { onTake(option: Suggestion): void; problem: string | null }) {
  return (
    <div class="floating query-options" id="query-options" role="listbox" aria-label="Suggestions">
      {problem ? (
        <p class="small under banner isolate" data-tone="bad" id="query-error" role="alert">
          {visibleText(problem)}
        </p>
      ) : null}
      {options.value.map((option, index) => (
        <div
          key={option.label}
          id={`query-option-${index}`}
          class="apart small option query-option"
          role="option"
          aria-selected={index === picked.value}
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

function QueryProblem({
  text,
  error,
}: {
  text: string;
  error: { message: string; hint: string | null; column: number | null };
}) {
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
