/** Terminal colours in printed text, as plain spans. Every other escape is dropped; nothing is ever markup. */

import { visibleText } from "./format";

/** A colour: 0 to 15 are the theme's own, the rest is red, green, blue. */
export type Ink = number | readonly [number, number, number];

export interface Style {
  fg?: Ink;
  bg?: Ink;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
}

export interface Span {
  text: string;
  style: Style;
}

/**
 * CSI (with its parameters and its last letter), OSC and other strings, and lone escapes. An escape that is cut off
 * ends the text.
 */
const ESCAPE =
  /\x1b(?:\[([0-?]*)[ -/]*([@-~]|$)|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~]|$)/g; // eslint-disable-line no-control-regex
const PLAIN: Style = {};
const MOST_SPANS = 2000;

/** The text as a terminal shows it: spans of one look each. */
export function parseAnsi(text: string): Span[] {
  if (!text.includes("\x1b")) return text ? [{ text: tidy(text), style: PLAIN }] : [];
  const spans: Span[] = [];
  let style: Style = PLAIN;
  let from = 0;
  const add = (until: number) => {
    if (until > from) spans.push({ text: tidy(text.slice(from, until)), style });
  };
  ESCAPE.lastIndex = 0;
  for (let found = ESCAPE.exec(text); found; found = ESCAPE.exec(text)) {
    add(found.index);
    from = found.index + found[0].length;
    if (found[2] === "m" && !/[<-?]/.test(found[1] ?? "")) style = styled(style, found[1] ?? "");
    if (spans.length > MOST_SPANS || found[0] === "") break;
  }
  add(text.length);
  return spans;
}

/** What is searched and copied: the text without escapes. */
export function stripAnsi(text: string): string {
  return text.includes("\x1b") ? text.replace(ESCAPE, "") : text;
}

const TAB = 8;

/** Tabs as the spaces they stand for, other control characters made visible. */
function tidy(text: string): string {
  const wide = text.includes("\t") ? text.replace(/\t/g, (_, at: number) => " ".repeat(TAB - (at % TAB))) : text;
  return visibleText(wide);
}

/** The look after a list of codes: `1;31`, `38;5;208`, `48;2;10;20;30`. */
function styled(before: Style, codes: string): Style {
  const list = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  let style: Style = { ...before };
  for (let at = 0; at < list.length; at++) {
    const code = list[at] as number;
    if (code === 38 || code === 48) {
      const [ink, used] = inkAt(list, at + 1);
      if (ink !== null) style[code === 38 ? "fg" : "bg"] = ink;
      at += used;
    } else style = simple(style, code);
  }
  return style;
}

function simple(style: Style, code: number): Style {
  const { fg, bg, bold, dim, ...rest } = style;
  switch (code) {
    case 0:
      return PLAIN;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 7:
      return inverted(style);
    case 9:
      return { ...style, strike: true };
    case 22:
      return { ...rest, ...(fg === undefined ? {} : { fg }), ...(bg === undefined ? {} : { bg }) };
    case 23:
      return without(style, "italic");
    case 24:
      return without(style, "underline");
    case 29:
      return without(style, "strike");
    case 39:
      return without(style, "fg");
    case 49:
      return without(style, "bg");
  } // prettier-ignore
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  return style;
}

function without(style: Style, name: keyof Style): Style {
  const { [name]: _, ...rest } = style;
  return rest;
}

/** Foreground and background change places; the theme's own are black on white then. */
function inverted(style: Style): Style {
  return { ...style, fg: style.bg ?? 15, bg: style.fg ?? 8 };
}

/** A colour after 38 or 48, and how many codes it took. */
function inkAt(codes: readonly number[], at: number): [Ink | null, number] {
  if (codes[at] === 5) return [indexed(codes[at + 1] ?? NaN), 2];
  if (codes[at] === 2) {
    const rgb = codes.slice(at + 1, at + 4);
    return rgb.length === 3 && rgb.every((c) => c >= 0 && c <= 255) ? [rgb as unknown as Ink, 4] : [null, 4];
  }
  return [null, 0];
}

const STEPS = [0, 95, 135, 175, 215, 255];

/** One of the 256 colours: sixteen of the theme, a cube, a row of greys. */
function indexed(index: number): Ink | null {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + 10 * (index - 232);
    return [grey, grey, grey];
  }
  const cube = index - 16;
  return [STEPS[Math.floor(cube / 36)] as number, STEPS[Math.floor(cube / 6) % 6] as number, STEPS[cube % 6] as number];
}

/** A free colour as text on the page: moved towards black or white until it can be read there. */
export function readableInk([r, g, b]: readonly [number, number, number], dark: boolean): string {
  const paper = dark ? luminance([0x12, 0x13, 0x16]) : 1;
  const end = dark ? 255 : 0;
  let ink: [number, number, number] = [r, g, b];
  for (let tries = 0; tries < 20 && contrast(luminance(ink), paper) < 4.5; tries++) {
    ink = ink.map((c) => Math.round(c + (end - c) * 0.15)) as [number, number, number];
  }
  return `rgb(${ink.join(" ")})`;
}

function luminance(rgb: readonly number[]): number {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Finds the places of a text, from start to end; those of a pattern are found by `findPattern`. */
export type Finder = (text: string) => readonly (readonly [number, number])[];

/** Cuts spans where something is found in them, so that it can be marked: true for the marked pieces. */
export function markSpans(spans: readonly Span[], find: Finder | null): { span: Span; marked: boolean }[] {
  const found = find ? find(spans.map((span) => span.text).join("")) : [];
  if (found.length === 0) return spans.map((span) => ({ span, marked: false }));
  const out: { span: Span; marked: boolean }[] = [];
  let start = 0;
  let next = 0;
  for (const span of spans) {
    const end = start + span.text.length;
    let at = start;
    while (at < end) {
      while (next < found.length && (found[next]?.[1] as number) <= at) next++;
      const place = found[next];
      const inside = place !== undefined && place[0] <= at;
      const until = Math.min(end, place === undefined ? end : inside ? place[1] : place[0]);
      out.push({ span: { text: span.text.slice(at - start, until - start), style: span.style }, marked: inside });
      at = until;
    }
    start = end;
  }
  return out;
}

/** Where a text occurs; case is ignored unless it has capitals. */
export function textFinder(wanted: string): Finder {
  const fold = wanted === wanted.toLowerCase();
  return (text) => {
    const found: [number, number][] = [];
    const within = fold ? text.toLowerCase() : text;
    // letters whose small form is longer would shift the marks
    if (wanted === "" || within.length !== text.length) return found;
    for (
      let at = within.indexOf(wanted);
      at >= 0 && found.length < 500;
      at = within.indexOf(wanted, at + wanted.length)
    )
      found.push([at, at + wanted.length]);
    return found;
  };
}
