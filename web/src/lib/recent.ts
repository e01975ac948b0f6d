/** What was used last, the newest first, kept in this browser. */

import { readStored, writeStored } from "./stored";

const MOST = 30;

export function readRecent(name: string): string[] {
  try {
    const parsed: unknown = JSON.parse(readStored(name) ?? "[]");
    return Array.isArray(parsed) ? parsed.filter((one): one is string => typeof one === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function noteRecent(name: string, id: string): void {
  writeStored(name, JSON.stringify([id, ...readRecent(name).filter((other) => other !== id)].slice(0, MOST)));
}
