/**
 * Reading and writing the address: `#/runs?q=loss&sort=loss.min`. The whole layout lives there, so a link shows the
 * same.
 */

export type Query = Readonly<Record<string, string>>;

export interface Place {
  path: string;
  query: Query;
}

export function parseHash(hash: string): Place {
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  const path = (cut < 0 ? text : text.slice(0, cut)) || "/";
  const query: Record<string, string> = {};
  if (cut >= 0) for (const [key, value] of new URLSearchParams(text.slice(cut + 1))) query[key] = value;
  return { path: path.startsWith("/") ? path : `/${path}`, query };
}

export function formatHash(place: Place): string {
  const parts = Object.entries(place.query)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${readable(key)}=${readable(value)}`);
  return `#${place.path}${parts.length ? `?${parts.join("&")}` : ""}`;
}

/** Percent-encodes only what would change the meaning, so that addresses stay readable to people. */
function readable(text: string): string {
  return encodeURIComponent(text).replace(/%2F/g, "/").replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%20/g, "+");
}

/** How a value is written into the address, and read back; `read` gives undefined for what it cannot understand. */
export interface Codec<T> {
  write(value: T): string;
  read(text: string): T | undefined;
}

export const text: Codec<string> = { write: (value) => value, read: (value) => value };

export const number: Codec<number> = {
  write: (value) => String(value),
  read: (value) => (value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : undefined),
};

export const flag: Codec<boolean> = {
  write: (value) => (value ? "1" : "0"),
  read: (value) => (value === "1" ? true : value === "0" ? false : undefined),
};

/** A list; commas and backslashes inside items are escaped, since metric names may hold anything. */
export const list: Codec<string[]> = {
  write: (items) => items.map((item) => item.replace(/[\\,]/g, "\\$&")).join(",") || (items.length ? "\\" : ""),
  read: (value) => {
    if (value === "") return [];
    const items: string[] = [];
    let item = "";
    for (let at = 0; at < value.length; at++) {
      if (value[at] === ",") items.push(item), (item = "");
      else item += value[at] === "\\" ? (value[++at] ?? "") : value[at];
    }
    items.push(item);
    return items;
  },
};

export function oneOf<T extends string>(...allowed: readonly T[]): Codec<T> {
  return { write: (value) => value, read: (value) => allowed.find((item) => item === value) };
}

export function json<T>(check: (value: unknown) => value is T): Codec<T> {
  return {
    write: (value) => JSON.stringify(value),
    read: (value) => {
      try {
        const parsed: unknown = JSON.parse(value);
        return check(parsed) ? parsed : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Matches `/run/:id` against `/run/01ABC` and gives `{ id: "01ABC" }`, or null. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const want = pattern.split("/").filter(Boolean);
  const have = path.split("/").filter(Boolean);
  if (want.length !== have.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of want.entries()) {
    const given = have[index] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = decode(given);
    else if (part !== given) return null;
  }
  return found;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
