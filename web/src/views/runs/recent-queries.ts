/** The queries that were used last in this browser, by project. */

import { readStored, writeStored } from "../../lib/stored";
import { project } from "../../state";

const RECENT = 6;
const recentName = (): string => `queries.${project.peek()}`;

export function recent(): string[] {
  try {
    const parsed: unknown = JSON.parse(readStored(recentName()) ?? "[]");
    return Array.isArray(parsed) ? parsed.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Remembers a query that could be read. */
export function rememberQuery(text: string): void {
  if (text.trim() === "") return;
  writeStored(recentName(), JSON.stringify([text, ...recent().filter((one) => one !== text)].slice(0, RECENT)));
}
