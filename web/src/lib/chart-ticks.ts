/** Where an axis puts its ticks and what it writes beside them. One source for the canvas and the SVG. */

export type AxisKind = "number" | "log" | "duration" | "time" | "bytes";

export interface Ticks {
  at: readonly number[];
  labels: readonly string[];
}

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];
const DAY = 86400;

/** The smallest "round" step (1, 2 or 5 times a power of ten) that gives at most `count` ticks over `span`. */
export function niceStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = rough / power;
  const nice = unit <= 1.0001 ? 1 : unit <= 2.0001 ? 2 : unit <= 5.0001 ? 5 : 10;
  return nice * power;
}

function multiples(lo: number, hi: number, step: number, offset = 0): number[] {
  const out: number[] = [];
  const first = Math.ceil((lo - offset) / step - 1e-9);
  const last = Math.floor((hi - offset) / step + 1e-9);
  for (let i = first; i <= last && out.length < 200; i++) out.push(clean(i * step + offset, step));
  return out;
}

/**
 * Removes the dust of floating point: 0.30000000000000004 becomes 0.3. Whole numbers have none, and times need all
 * digits.
 */
function clean(value: number, step: number): number {
  if (Number.isInteger(value)) return value;
  const digits = Math.min(15, Math.max(6, Math.ceil(Math.log10(Math.abs(value) / step)) + 2));
  return Number(value.toPrecision(digits));
}

function logTicks(lo: number, hi: number, count: number): number[] {
  if (!(lo > 0) || !(hi > lo)) return [];
  const first = Math.floor(Math.log10(lo));
  const last = Math.ceil(Math.log10(hi));
  if (Math.log10(hi / lo) < 0.8) return multiples(lo, hi, niceStep(hi - lo, count));
  const room = (count * 1.3) / Math.log10(hi / lo);
  const inner = room >= 3 ? [1, 2, 5] : room >= 2 ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(Math.log10(hi / lo) / count));
  const out: number[] = [];
  for (let p = first; p <= last; p += every) {
    for (const m of inner) {
      const tick = Number(`${m}e${p}`);
      if (tick >= lo * 0.999999 && tick <= hi * 1.000001) out.push(tick);
    }
  }
  return out;
}

function durationStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  if (rough < 1) return niceStep(span, count);
  return SECONDS.find((s) => s >= rough) ?? niceStep(span / DAY, count) * DAY;
}

/** Ticks inside [lo, hi], at most about `count` of them; only whole numbers where nothing lies between them. */
export function ticks(lo: number, hi: number, count: number, kind: AxisKind = "number", whole = false): number[] {
  if (!(hi > lo) || !Number.isFinite(hi - lo)) return [];
  if (kind === "log") return logTicks(lo, hi, count);
  if (kind === "number") return multiples(lo, hi, Math.max(whole ? 1 : 0, niceStep(hi - lo, count)));
  if (kind === "bytes") return byteTicks(lo, hi, count);
  const step = durationStep(hi - lo, count);
  // Days and hours start at local midnight, not at the one in Greenwich.
  const offset = kind === "time" && step >= 60 ? new Date(lo * 1000).getTimezoneOffset() * 60 : 0;
  return multiples(lo, hi, step, step >= 60 ? offset % Math.max(step, DAY) : 0);
}

const BYTES: readonly (readonly [number, string])[] = [
  [2 ** 50, "PiB"],
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

/** The unit of a whole axis, by its larger end. */
const byteUnit = (size: number): readonly [number, string] => BYTES.find(([unit]) => size >= unit) ?? [1, "B"];

/** Round numbers of the unit that is written there, not of bytes. */
function byteTicks(lo: number, hi: number, count: number): number[] {
  const [unit] = byteUnit(Math.max(Math.abs(lo), Math.abs(hi)));
  return multiples(lo / unit, hi / unit, Math.max(unit === 1 ? 1 : 0, niceStep((hi - lo) / unit, count))).map(
    (at) => at * unit,
  );
}

function tickBytes(value: number, step: number, largest: number): string {
  if (value === 0) return "0";
  const [unit, name] = byteUnit(largest);
  return `${tickNumber(value / unit, step / unit)} ${name}`;
}

const SI: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** What a double holds of a number near one. */
const MOST_DECIMALS = 14;

/**
 * A number as an axis writes it, with the decimals that `step` makes necessary, in the unit that the axis's largest
 * needs: 1,500, 20k, 0.02, 3e-7.
 */
function tickNumber(value: number, step: number, largest = Math.abs(value)): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (largest >= 1e15 || largest < 1e-4) return exponent(value, step);
  const [unit, letter] = (largest >= 1e4 && SI.find(([u]) => largest >= u - step / 2)) || [1, ""];
  const decimals = Math.min(MOST_DECIMALS, Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return minus((value / unit).toFixed(decimals).replace(/^(-?\d)(\d{3})\b/, "$1,$2")) + letter;
}

function exponent(value: number, step: number): string {
  const digits = Math.min(MOST_DECIMALS, Math.max(0, Math.ceil(Math.log10(Math.abs(value) / step) - 1e-9)));
  const [mantissa = "", power = ""] = value.toExponential(Number.isFinite(digits) ? digits : 0).split("e");
  return `${minus(mantissa.replace(/\.0+$/, ""))}e${minus(power.replace("+", ""))}`;
}

const minus = (text: string): string => text.replace("-", "−");
const two = (n: number): string => String(n).padStart(2, "0");

/** Seconds as 45 s, 2:30, 1:05:00 or 3 d 04 h: short enough for a tick. */
function tickDuration(seconds: number, step: number): string {
  const sign = seconds < 0 ? "−" : "";
  const s = Math.abs(seconds);
  if (s === 0) return "0";
  if (s < 60) return `${sign}${tickNumber(s, Math.min(step, 1))}s`;
  if (step >= DAY) return `${sign}${Math.round(s / DAY)}d`;
  if (s >= DAY) return `${sign}${Math.floor(s / DAY)}d ${Math.floor((s % DAY) / 3600)}h`;
  if (step >= 3600) return `${sign}${Math.round(s / 3600)}h`;
  if (s >= 3600) return `${sign}${Math.floor(s / 3600)}h${two(Math.floor((s % 3600) / 60))}`;
  if (step >= 60) return `${sign}${Math.round(s / 60)}m`;
  return `${sign}${Math.floor(s / 60)}:${two(Math.floor(s % 60))}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Unix seconds as a local clock time, or as a date at midnight. */
function tickTime(seconds: number, step: number): string {
  const d = new Date(seconds * 1000);
  if (step >= DAY || (d.getHours() === 0 && d.getMinutes() === 0 && step >= 60)) {
    return `${d.getDate()} ${MONTHS[d.getMonth()]}`;
  }
  const clock = `${two(d.getHours())}:${two(d.getMinutes())}`;
  if (step >= 60) return clock;
  const decimals = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step)));
  return `${clock}:${two(d.getSeconds())}${decimals ? (d.getMilliseconds() / 1000).toFixed(decimals).slice(1) : ""}`;
}

/** The labels of ticks, all with the same number of decimals. */
export function tickLabels(at: readonly number[], kind: AxisKind = "number"): string[] {
  const step = at.length > 1 ? Math.abs((at[1] as number) - (at[0] as number)) : exactly(at[0] ?? 1);
  const largest = Math.max(...at.map(Math.abs));
  if (kind === "bytes") return at.map((t) => tickBytes(t, step, largest));
  // One unit for a whole axis: 5k, 10k and not 5,000, 10k.
  if (kind === "number") return at.map((t) => tickNumber(t, step, largest));
  return at.map((t) => tickLabel(t, step, kind));
}

/** A number that stands alone is written to its last digit, or to five. */
const exactly = (value: number): number => (Number.isInteger(value) ? 1 : Math.abs(value) / 1e4);

function tickLabel(value: number, step: number, kind: AxisKind): string {
  if (kind === "duration") return tickDuration(value, step);
  if (kind === "time") return tickTime(value, step);
  return tickNumber(value, kind === "log" ? Math.abs(value) : step);
}

/** Three digits of the span are enough to say where an axis ends. */
const END_PART = 1000;

/**
 * The labels of the two ends of a range, which are seldom round: as exact as the ticks between them need, and a little
 * more.
 */
export function endLabels(
  [lo, hi]: readonly [number, number],
  at: readonly number[],
  kind: AxisKind,
): [string, string] {
  if (kind === "log") return [tickNumber(lo, Math.abs(lo) / 10), tickNumber(hi, Math.abs(hi) / 10)];
  const between = at.length > 1 ? (at[1] as number) - (at[0] as number) : hi - lo;
  const fine = kind === "number" ? 10 ** Math.floor(Math.log10((hi - lo) / END_PART) + 1) : between;
  return [endLabel(lo, Math.min(between, fine), kind), endLabel(hi, Math.min(between, fine), kind)];
}

function endLabel(value: number, step: number, kind: AxisKind): string {
  if (kind !== "number") return tickLabel(value, step, kind);
  const label = tickNumber(value, step);
  // 2,000k and 1.50M say no more than 2M and 1.5M do.
  return label.includes(".") && !label.includes("e") ? label.replace(/\.?0+(?=[kMGT]?$)/, "") : label;
}

/** What the numbers of a metric are, as its name tells: those of the machine have their unit in it. */
export function unitOf(key: string): "percent" | "bytes" | "number" {
  if (/(percent|pct|%)$/i.test(key)) return "percent";
  return /bytes(_per_s)?$/i.test(key) ? "bytes" : "number";
}

const SCORES =
  /(^|[^a-z])(accs?|acc[15]|accurac(y|ies)|auc|auroc|auprc|f1|m?iou|dice|precision|recall|top[15])([^a-z]|$)/i;

/** A metric that cannot be more than 1, or 100 as a percentage, as its name tells. */
const isScore = (key: string): boolean => SCORES.test(key) || SCORES.test(key.replace(/([a-z])([A-Z])/g, "$1_$2"));

/** What the y-range of a metric must not pass. */
export const limitsOf = (key: string): { percent: boolean; score: boolean } => ({
  percent: unitOf(key) === "percent",
  score: isScore(key),
});

/** What kind of axis an x setting draws. */
export function axisKind(x: string, log: boolean): AxisKind {
  if (log) return "log";
  return x === "relative" ? "duration" : x === "wall" ? "time" : "number";
}
