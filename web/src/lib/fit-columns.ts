/**
 * Widths for a table's columns: as wide as they like where there is room, narrower where not, fewer where still not.
 */

export interface Wanted {
  key: string;
  /** As wide as it likes. */
  want: number;
  /** Narrower than this it cannot be read. */
  least: number;
  /** May be left out when there is no room; the last one goes first. */
  optional?: boolean;
}

/** The width of each column that is shown. When even the narrowest are too wide the table scrolls. */
export function fitColumns(columns: readonly Wanted[], room: number): Map<string, number> {
  let shown = columns;
  while (sum(shown, "least") > room) {
    const last = shown.findLastIndex((column) => column.optional);
    if (last < 0) break;
    shown = shown.filter((_, at) => at !== last);
  }
  const want = sum(shown, "want");
  const least = sum(shown, "least");
  const share = want <= room ? 1 : want === least ? 0 : Math.max(0, (room - least) / (want - least));
  return new Map(shown.map((column) => [column.key, Math.floor(column.least + (column.want - column.least) * share)]));
}

function sum(columns: readonly Wanted[], which: "want" | "least"): number {
  return columns.reduce((total, column) => total + column[which], 0);
}
