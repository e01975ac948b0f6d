/** Groups of runs as the charts draw them: one line with a band, under an id of its own in place of a run's. */

import { hashOf, spreadSlots } from "./colour";
import type { CompareColumn } from "./schema";

const PREFIX = "group:";

export interface LineGroup {
  /**
   * Stands where a run's id stands. Other runs or other keys give another id, so that no old line is taken for the new
   * one.
   */
  id: string;
  /** The same group in every answer of the server. */
  column: string;
  label: string;
  runs: readonly string[];
  /** Its place in the palette. */
  slot: number;
}

export const isGroup = (id: string): boolean => id.startsWith(PREFIX);

/** The server's columns as groups, each with a colour that its value keeps wherever it is shown. */
export function lineGroups(columns: readonly CompareColumn[]): LineGroup[] {
  const slots = spreadSlots(
    columns.map((column) => column.id),
    (id) => hashOf(id),
  );
  return columns.map((column) => ({
    id: `${PREFIX}${hashOf(`${column.label} ${column.runs.join()}`).toString(36)}:${column.id}`,
    column: column.id,
    label: column.label,
    runs: column.runs,
    slot: slots.get(column.id) ?? 0,
  }));
}

/** The ids that stand for changed runs: their own, and those of their groups. */
export function withGroups(runs: readonly string[], groups: readonly LineGroup[]): string[] {
  const changed = new Set(runs);
  return [...runs, ...groups.filter((group) => group.runs.some((run) => changed.has(run))).map((group) => group.id)];
}
