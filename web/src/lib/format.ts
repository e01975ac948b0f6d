/** Numbers, times and sizes as people read them. Pure functions; the clock is passed in. */

const SPECIAL: Record<string, string> = { NaN: "NaN", Infinity: "∞", "-Infinity": "−∞" };

/** Four significant digits: `0.04217`, `1,234`, `12.3M`, `3.2e-7`. NaN and infinities are shown, never hidden. */
export function formatNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return SPECIAL[String(value)] as string;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e15) return scientific(value, digits);
  if (Number.isInteger(value) && size < 1000) return minus(String(value));
  if (Number.isInteger(value) && size < 1e6) return minus(value.toLocaleString("en-US"));
  if (size >= 1e6) return si(value, digits);
  const rounded = Number(value.toPrecision(digits));
  return minus(size >= 10 ** digits ? Math.round(value).toLocaleString("en-US") : plain(rounded));
}

/**
 * A metric in a column: four digits always, `0.8800` under `0.8794`, so that the digits of a column stand under each
 * other.
 */
export function formatMetric(value: number): string {
  const size = Math.abs(value);
  return Number.isInteger(value) || size < 1e-4 || size >= 1000 || !Number.isFinite(value)
    ? formatNumber(value)
    : minus(value.toPrecision(4));
}

/** What the server says in letters that every terminal has: `2.8x` is `2.8×` here, `7 us` is `7 µs`. */
export function typeset(text: string): string {
  return text.replace(/(\d)x(?=[\s),.;:]|$)/g, "$1×").replace(/(\d) us\b/g, "$1 µs");
}

function scientific(value: number, digits: number): string {
  const [mantissa, exponent] = value.toExponential(digits - 2).split("e") as [string, string];
  return minus(`${trim(mantissa)}e${exponent.replace("+", "")}`);
}

function si(value: number, digits: number): string {
  const units: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
  ];
  const [scale, unit] = units.find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  return minus(`${plain(Number((value / scale).toPrecision(digits)))}${unit}`);
}

function plain(value: number): string {
  return Math.abs(value) >= 1000 ? value.toLocaleString("en-US") : String(value);
}

function trim(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function minus(text: string): string {
  return text.replace(/-/g, "−");
}

/** All the digits, for copying and tooltips. */
export function exactNumber(value: number): string {
  return String(value);
}

/** A cell of the runs table: numbers shortened, the rest as it is. */
export function formatCell(value: number | string | boolean | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  return SPECIAL[value] ?? value;
}

/** `0.8s`, `42s`, `3m 20s`, `5h 12m`, `3d 4h`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const total = Math.max(0, seconds);
  if (total < 0.0995) return `${Math.round(total * 1000)}ms`;
  if (total < 9.95) return `${trim(total.toFixed(1))}s`;
  const whole = Math.round(total);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return pair(whole, 60, "m", 1, "s");
  if (whole < 86400) return pair(whole, 3600, "h", 60, "m");
  return pair(whole, 86400, "d", 3600, "h");
}

function pair(total: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((total % big) / small);
  return `${Math.floor(total / big)}${bigUnit}${rest ? ` ${rest}${smallUnit}` : ""}`;
}

/** `just now`, `12s ago`, `5m ago`, `3h ago`, `2d ago`, then the date. Both in unix seconds. */
export function formatAge(time: number, now: number): string {
  const age = now - time;
  if (age < -60) return formatTime(time);
  if (age < 5) return "just now";
  if (age < 60) return `${Math.floor(age)}s ago`;
  if (age < 3600) return `${Math.floor(age / 60)}m ago`;
  if (age < 86400) return `${Math.floor(age / 3600)}h ago`;
  if (age < 30 * 86400) return `${Math.floor(age / 86400)}d ago`;
  return formatDate(time);
}

/** `2026-11-15 14:03:27` in the viewer's zone. */
export function formatTime(time: number): string {
  const date = new Date(time * 1000);
  if (Number.isNaN(date.getTime())) return "–";
  const two = (part: number) => String(part).padStart(2, "0");
  return `${formatDate(time)} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The same with the zone, for titles: `2026-11-15 14:03:27 GMT+1`. */
export function formatTimeZone(time: number): string {
  const shown = formatTime(time);
  return shown === "–" ? shown : `${shown} ${zoneAt(new Date(time * 1000))}`;
}

const zones = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }); // made once: it is slow to make

function zoneAt(date: Date): string {
  const parts = zones.formatToParts(date);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "";
}

export function formatDate(time: number): string {
  const date = new Date(time * 1000);
  if (Number.isNaN(date.getTime())) return "–";
  const two = (part: number) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `512 B`, `1.5 KiB`, `3.2 GiB`. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = Math.abs(bytes);
  let unit = 0;
  while (size >= 1023.5 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  const shown = unit === 0 ? String(size) : String(Number(size.toPrecision(size >= 100 ? 3 : 2)));
  return `${bytes < 0 ? "−" : ""}${shown} ${units[unit]}`;
}

/** `1 run`, `12 runs`. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  // A page's first use of a locale takes a dozen milliseconds; small numbers need none.
  const digits = Math.abs(amount) < 1000 ? String(amount) : amount.toLocaleString("en-US");
  return `${digits} ${amount === 1 ? noun : plural}`;
}

/** Marks line breaks, control and bidi-override characters, so that a hostile name cannot rearrange the page. */
export function visibleText(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g,
    (letter) => {
      const code = letter.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
    },
  );
}

/** A text cut in its middle to at most this many letters: names of runs differ at their ends. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** The name of a run or a view as it can be shown, also where it is empty or only spaces. */
export const nameText = (name: string): string => visibleText(name).trim() || "(no name)";
