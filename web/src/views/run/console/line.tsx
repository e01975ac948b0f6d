/** One line as a terminal shows it, with what we know of it on its left. */

import { memo } from "preact/compat";
import { type Finder, type Ink, markSpans, parseAnsi, readableInk, type Span, type Style } from "../../../lib/ansi";
import { clockText, sinceText } from "../../../lib/console-scroll";
import { formatTimeZone } from "../../../lib/format";
import type { ConsoleLine } from "../../../lib/schema";
import { isDark } from "../../../theme";
import type { Stamps } from "./settings";

export interface LineProps {
  line: ConsoleLine;
  row: number;
  /** Seconds; when the run began. */
  began: number;
  stamps: Stamps;
  showRank: boolean;
  /** The step is told where it changes; "none" where no line has one. */
  newStep: boolean | "none";
  /** Finds what is to be marked. */
  find: Finder | null;
  picked: boolean;
  current: boolean;
  shining: boolean;
  /** Part of a traceback; its last line says what the error is. */
  trace: "" | "part" | "end";
}

export const Line = memo(function Line(props: LineProps) {
  const { line, row, began, stamps, showRank, newStep, find, picked, current, shining, trace } = props;
  return (
    <div
      class="con-line"
      data-row={row}
      data-number={line.number}
      data-err={line.stderr || undefined}
      data-match={line.match || undefined}
      data-current={current || undefined}
      data-picked={picked || undefined}
      data-shining={shining || undefined}
      data-trace={trace || undefined}
      data-old={line.rewritten || undefined}
    >
      <button
        type="button"
        class="con-number"
        data-pick={line.number}
        tabIndex={-1}
        aria-label={`Line ${line.number + 1}`}
      >
        {line.number + 1}
      </button>
      {stamps === "none" ? null : (
        <time class="con-time" title={formatTimeZone(line.time)}>
          {stamps === "clock" ? clockText(line.time) : sinceText(line.time, began)}
        </time>
      )}
      {showRank ? <span class="con-rank">{line.rank ?? 0}</span> : null}
      {newStep === "none" ? null : (
        <span class="con-step">
          {newStep && line.step !== null && line.step !== undefined ? (
            <button
              type="button"
              data-step={line.step}
              tabIndex={-1}
              title={`Step ${line.step.toLocaleString("en-US")}: see it in Charts`}
            >
              {line.step.toLocaleString("en-US")}
            </button>
          ) : null}
        </span>
      )}
      <span class="con-text isolate">
        <Text text={line.text} find={find} />
        {line.cut ? (
          <button type="button" class="con-cut" data-whole={line.number}>
            … {line.cut.toLocaleString("en-US")} more characters: copy the whole line
          </button>
        ) : null}
      </span>
    </div>
  );
});

function Text({ text, find }: { text: string; find: Finder | null }) {
  const spans = spansOf(text);
  if (spans.length === 0) return <>{"\u200b"}</>; // so that an empty line has a height
  return (
    <>
      {markSpans(spans, find).map(({ span, marked }, at) =>
        marked ? <mark key={at}>{span.text}</mark> : <Piece key={at} span={span} />,
      )}
    </>
  );
}

const cache = new Map<string, Span[]>();

function spansOf(text: string): Span[] {
  const known = cache.get(text);
  if (known) return known;
  if (cache.size > 2000) cache.clear();
  const spans = parseAnsi(text);
  cache.set(text, spans);
  return spans;
}

function Piece({ span: { text, style } }: { span: Span }) {
  const css = styleOf(style);
  return Object.keys(css).length > 0 ? <span style={css}>{text}</span> : text;
}

/** The bright ones of the sixteen, as a ground: they need dark words. */
const BRIGHT: ReadonlySet<Ink | undefined> = new Set([7, 11, 15]);

function styleOf(style: Style): Record<string, string> {
  const css: Record<string, string> = { ...inkOf(style), ...groundOf(style.bg) };
  if (style.bold) css.fontWeight = "700";
  if (style.dim) css.opacity = "0.75";
  if (style.italic) css.fontStyle = "italic";
  const lines = [style.underline ? "underline" : "", style.strike ? "line-through" : ""].filter(Boolean);
  if (lines.length > 0) css.textDecoration = lines.join(" ");
  return css;
}

const rgb = (ink: readonly [number, number, number]): string => `rgb(${ink.join(" ")})`;

function inkOf({ fg, bg }: Style): Record<string, string> {
  if (fg === undefined) return {};
  if (typeof fg === "number") return { color: `var(--ansi-${fg})` };
  return { color: bg === undefined ? readableInk(fg, isDark.value) : rgb(fg) };
}

function groundOf(bg: Ink | undefined): Record<string, string> {
  if (bg === undefined) return {};
  if (typeof bg !== "number") return { backgroundColor: rgb(bg) };
  const color = BRIGHT.has(bg) ? "#17181c" : "#ffffff";
  return { backgroundColor: `var(--ansi-on-${bg})`, borderRadius: "2px", color };
}
