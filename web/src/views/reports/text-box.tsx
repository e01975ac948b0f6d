/**
 * The text of a report in a plain text field: undo is the browser's own, and `/` at the start of a line offers panels.
 */

import type { Ref } from "preact";
import { useImperativeHandle } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { changeBetween, lineAt, offsetOf, slashAt } from "../../lib/report-text";
import { PANELS, type PanelKind } from "../../panels/panel";

export interface TextBoxHandle {
  /** Replaces the text as if it had been typed, so that undo takes it back. */
  change(next: string): void;
  /** Puts something around what is selected, or replaces it. */
  wrap(before: string, after: string, example: string): void;
  /** Begins every selected line with something. */
  prefix(mark: string): void;
  line(): number;
  select(line: number, end: number): void;
  focus(): void;
}

export interface TextBoxProps {
  text: string;
  onText(text: string): void;
  onSave(): void;
  onEscape(): void;
  /** A panel was picked from the menu: ask for its options; it goes before this line. */
  onPanel(kind: PanelKind, line: number): void;
  onLine(line: number): void;
  handle: Ref<TextBoxHandle>;
  problems: ReadonlyMap<number, string>;
}

/** As typed: the browser remembers it for undo. Where it cannot, the text is still changed. */
function type(box: HTMLTextAreaElement, from: number, to: number, text: string): void {
  box.focus();
  box.setSelectionRange(from, to);
  const done =
    text === "" ? from === to || document.execCommand("delete") : document.execCommand("insertText", false, text);
  if (done) return;
  box.setRangeText(text, from, to, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

export function TextBox({ text, onText, onSave, onEscape, onPanel, onLine, handle, problems }: TextBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  // Never renewed: writing it again would cut what one undo takes back into single letters.
  const first = useRef(text).current;
  // A modal dialog takes the selection away; who comes back from it wants to go on where they were.
  const caret = useRef(0);
  const [slash, setSlash] = useState<{ from: number; word: string } | null>(null);
  const [at, setAt] = useState(0);
  const found = slash
    ? PANELS.filter((one) => `${one.kind} ${one.title}`.toLowerCase().includes(slash.word.trim()))
    : [];
  const open = slash !== null && found.length > 0;
  useLayoutEffect(() => {
    if (box.current && box.current.value !== text) box.current.value = text;
  }, [text]);
  useEffect(() => setAt(0), [slash?.word]);
  useImperativeHandle(handle, () => handleOf(box, caret), []);

  const look = () => {
    const element = box.current;
    if (!element) return;
    setSlash(element.selectionStart === element.selectionEnd ? slashAt(element.value, element.selectionStart) : null);
    onLine(lineAt(element.value, element.selectionStart));
  };
  const pick = (kind: PanelKind) => {
    const element = box.current;
    if (!element || !slash) return;
    type(element, slash.from, element.selectionStart, "");
    setSlash(null);
    onPanel(kind, lineAt(element.value, element.selectionStart));
  };
  const onKey = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s")
      return void (event.preventDefault(), onSave());
    if (open) {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (step) return void (event.preventDefault(), setAt((at + step + found.length) % found.length));
      if (event.key === "Enter" || event.key === "Tab")
        return void (event.preventDefault(), pick(found[at] as PanelKind));
      if (event.key === "Escape") return void (event.preventDefault(), event.stopPropagation(), setSlash(null));
    }
    if (event.key === "Escape") onEscape();
    if (event.key === "Enter" && box.current) continueList(event, box.current);
  };
  return (
    <div class="vstack anchor subtle report-write">
      <textarea
        ref={box}
        aria-label="Text of the report, in Markdown"
        aria-describedby="report-write-hint"
        aria-autocomplete="list"
        aria-controls={open ? "report-slash" : undefined}
        aria-activedescendant={open ? `report-slash-${found[at]?.kind}` : undefined}
        spellcheck
        defaultValue={first}
        onInput={(event) => (onText(event.currentTarget.value), look())}
        onKeyDown={onKey}
        onKeyUp={(event) =>
          ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"].includes(
            event.key,
          ) &&
          !open &&
          look()
        }
        onClick={look}
        onBlur={(event) => {
          caret.current = event.currentTarget.selectionEnd;
          setSlash(null);
        }}
      />
      <p id="report-write-hint" class="visually-hidden">
        A slash at the start of a line offers panels. Control S saves a version.
      </p>
      {open ? (
        <ul
          id="report-slash"
          class="floating report-slash"
          role="listbox"
          aria-label="Insert a panel"
          style={slashPlace(box.current, slash.from)}
        >
          {found.map((kind, n) => (
            <li
              key={kind.kind}
              id={`report-slash-${kind.kind}`}
              role="option"
              aria-selected={n === at}
              onPointerDown={(event) => (event.preventDefault(), pick(kind))}
              onPointerMove={() => setAt(n)}
            >
              <strong>{kind.title}</strong>
              <span>{kind.hint}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {problems.size > 0 ? (
        <Problems problems={problems} onGo={(line) => handleOf(box, caret).select(line, line + 1)} />
      ) : null}
    </div>
  );
}

function Problems({ problems, onGo }: { problems: ReadonlyMap<number, string>; onGo(line: number): void }) {
  return (
    <ul class="rigid scroll small anywhere over report-problems" aria-label="Problems in the text">
      {[...problems].slice(0, 6).map(([line, text]) => (
        <li key={line}>
          <button type="button" class="link" onClick={() => onGo(line)}>
            line {line + 1}
          </button>{" "}
          <span class="isolate">{text}</span>
        </li>
      ))}
      {problems.size > 6 ? <li>and {problems.size - 6} more</li> : null}
    </ul>
  );
}

/**
 * Under the line that the slash is on, or above it where there is no room; long lines are wrapped as in the text field.
 */
function slashPlace(box: HTMLTextAreaElement | null, from: number): { top?: string; bottom?: string } {
  if (!box) return {};
  const mirror = document.createElement("div");
  const look = getComputedStyle(box);
  for (const name of ["font", "lineHeight", "padding", "boxSizing", "letterSpacing", "tabSize"] as const)
    mirror.style[name] = look[name];
  Object.assign(mirror.style, {
    position: "absolute",
    visibility: "hidden",
    whiteSpace: "pre-wrap",
    overflowWrap: "break-word",
    width: `${box.clientWidth}px`,
  });
  mirror.textContent = `${box.value.slice(0, from)}/`;
  document.body.append(mirror);
  const bottom = mirror.clientHeight - Number.parseFloat(look.paddingBottom) - box.scrollTop;
  mirror.remove();
  const room = box.clientHeight - bottom;
  return room > 220 || bottom < box.clientHeight / 2
    ? { top: `${bottom + 4}px` }
    : { bottom: `${room + Number.parseFloat(look.lineHeight) + 4}px` };
}

/** Enter at the end of a list's line begins the next item; on an empty item it ends the list. */
function continueList(event: KeyboardEvent, box: HTMLTextAreaElement): void {
  const { selectionStart: at, selectionEnd, value } = box;
  if (at !== selectionEnd || event.shiftKey) return;
  const from = value.lastIndexOf("\n", at - 1) + 1;
  const item = /^(\s*)([-*+]|(\d{1,6})([.)]))\s+/.exec(value.slice(from, at));
  if (!item) return;
  event.preventDefault();
  if (item[0].length === at - from) return type(box, from, at, "");
  const mark = item[3] === undefined ? item[2] : `${Number(item[3]) + 1}${item[4]}`;
  type(box, at, at, `\n${item[1]}${mark} `);
}

function handleOf(box: { current: HTMLTextAreaElement | null }, caret: { current: number }): TextBoxHandle {
  const withBox = (use: (element: HTMLTextAreaElement) => void) => box.current && use(box.current);
  return {
    change: (next) =>
      withBox((element) => {
        const { from, to, text } = changeBetween(element.value, next);
        const top = element.scrollTop;
        type(element, from, to, text);
        element.scrollTop = top;
      }),
    wrap: (before, after, example) =>
      withBox((element) => {
        const { selectionStart: from, selectionEnd: to, value } = element;
        const inner = value.slice(from, to) || example;
        type(element, from, to, before + inner + after);
        element.setSelectionRange(from + before.length, from + before.length + inner.length);
      }),
    prefix: (mark) =>
      withBox((element) => {
        const { selectionStart, selectionEnd, value } = element;
        const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
        const lines = value.slice(from, selectionEnd).split("\n");
        type(
          element,
          from,
          selectionEnd,
          lines.map((line) => mark + line.replace(/^(#{1,6}|[-*+]|>)\s+/, "")).join("\n"),
        );
      }),
    line: () => (box.current ? lineAt(box.current.value, box.current.selectionStart) : 0),
    select: (line, end) =>
      withBox((element) => {
        element.focus();
        element.setSelectionRange(
          offsetOf(element.value, line),
          Math.max(offsetOf(element.value, line), offsetOf(element.value, end) - 1),
        );
        const height = Number.parseFloat(getComputedStyle(element).lineHeight) || 20;
        element.scrollTop = Math.max(0, line * height - element.clientHeight / 3);
      }),
    focus: () =>
      withBox((element) => {
        const at = caret.current;
        element.blur();
        element.focus();
        element.setSelectionRange(at, at);
      }),
  };
}
