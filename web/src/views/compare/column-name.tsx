/** A column of the comparison: its colour, its name, how many runs it stands for. */

import { useMemo } from "preact/hooks";
import { Middle, StatusDot } from "../../components";
import { lineGroups } from "../../lib/chart-groups";
import { count, nameText } from "../../lib/format";
import type { Compared, CompareColumn } from "../../lib/schema";
import { swatch } from "../../lib/colour";
import { known, lookOfRun, rememberGroups } from "../../state";

/** The id under which `lookOfRun` knows each column's colour: the run's own, or the group's. */
export function useColours(compared: Compared | null | undefined): ReadonlyMap<string, string> {
  return useMemo(() => {
    if (!compared) return new Map();
    if (compared.by.length === 0) return new Map(compared.columns.map((column) => [column.id, column.id]));
    const groups = lineGroups(compared.columns);
    rememberGroups(groups);
    return new Map(groups.map((group) => [group.column, group.id]));
  }, [compared]);
}

export const labelOf = (column: CompareColumn): string => nameText(column.label);

export interface ColumnNameProps {
  column: CompareColumn;
  /** From `useColours`. */
  colour: string | undefined;
  /** Say how many runs, and the state of a single one that is not finished. */
  more?: boolean;
}

export function ColumnName({ column, colour, more = true }: ColumnNameProps) {
  const look = lookOfRun(colour ?? column.id);
  const only = column.values.length === 0 ? known.value.get(column.id) : undefined;
  return (
    <span class="inline column-name">
      <span class="ink" style={{ background: swatch(look) }} />
      <span class="isolate block column-label" title={labelOf(column)}>
        <Middle text={labelOf(column)} />
      </span>
      {more && only && only.status !== "finished" ? <StatusDot status={only.status} word={false} /> : null}
      {more && column.values.length > 0 ? (
        <span class="quiet column-count">{count(column.runs.length, "run")}</span>
      ) : null}
    </span>
  );
}
