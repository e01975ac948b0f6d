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
  const names = classesOf(style);
  const colours = freeColours(style);
  if (!names && !colours) return <>{text}</>;
  return (
    <span class={names || undefined} style={colours}>
      {text}
    </span>
  );
}

function classesOf(style: Style): string {
  const names: string[] = [];
  if (typeof style.fg === "number") names.push(`ansi-${style.fg}`);
  if (typeof style.bg === "number") names.push(`ansi-on-${style.bg}`);
  for (const name of ["bold", "dim", "italic", "underline", "strike"] as const)
    if (style[name]) names.push(`ansi-${name}`);
  return names.join(" ");
}

const isFree = (ink: Ink | undefined): ink is readonly [number, number, number] => Array.isArray(ink);

function freeColours(style: Style): Record<string, string> | undefined {
  const { fg, bg } = style;
  if (!isFree(fg) && !isFree(bg)) return undefined;
  return {
    ...(isFree(fg) ? { color: bg === undefined ? readableInk(fg, isDark.value) : `rgb(${fg.join(" ")})` } : {}),
    ...(isFree(bg) ? { backgroundColor: `rgb(${bg.join(" ")})` } : {}),
  };
}
