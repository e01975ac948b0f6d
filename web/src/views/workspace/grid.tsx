/** A grid whose columns fill the width, whatever it is. */

import type { ComponentChildren } from "preact";
import { columnsFor, type Size } from "../../lib/workspace";
import { useScope } from "../charts/scope";
import { columnsThatFit } from "./space";

export interface SizedGridProps {
  sizes: readonly Size[];
  children: (columns: number) => ComponentChildren;
}

export function SizedGrid({ sizes, children }: SizedGridProps) {
  const chosen = useScope().settings.columns.value;
  const columns =
    chosen ||
    columnsFor(
      sizes.map((size) => Math.min(size.w ?? 1, columnsThatFit.value)),
      columnsThatFit.value,
    );
  return (
    <div
      class="panel-grid"
      data-wide={columnsThatFit.value >= 2 * columns && columnsThatFit.value > 2 ? "" : undefined}
      style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
    >
      {children(columns)}
    </div>
  );
}
