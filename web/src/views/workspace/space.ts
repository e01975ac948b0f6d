/** The workspace of the Charts page: in the address, so that a link, a saved view and Ctrl+Z all have it. */

import { computed, signal } from "@preact/signals";
import { panelId } from "../../lib/chart-sections";
import type { PanelInfo, ReportRun } from "../../lib/schema";
import { EMPTY, type OwnPanel, panelsOf, type Workspace, workspaceCodec } from "../../lib/workspace";
import { param } from "../../router";
import { known } from "../../state";

export const space = param<Workspace>("board", EMPTY, workspaceCodec);

export function change(make: (now: Workspace) => Workspace): void {
  space.value = make(space.peek());
}

/** The dialog that adds a panel to a section, or changes one. */
export const editing = signal<{ section: string | null; panel: OwnPanel | null } | null>(null);

/** What is being moved, and where it would go. */
export interface Dragged {
  title: string;
  /** An own panel by its id, or an automatic one. */
  panel: string | PanelInfo;
  x: number;
  y: number;
}
export const dragged = signal<Dragged | null>(null);

/** How many columns of the usual width fit; followed by the board. */
export const columnsThatFit = signal(3);

/** An automatic panel as a panel of one's own. */
export const metricPanel = (info: PanelInfo): Omit<OwnPanel, "id"> => ({
  kind: "metric",
  options: info.kind === "scalar" ? { key: info.key } : { key: info.key, type: info.kind },
});

/** What a panel of kind `metric` shows; whoever logged it. */
export function infoOf(panel: OwnPanel, all: readonly PanelInfo[]): PanelInfo {
  const key = String(panel.options.key ?? "");
  const kind = String(panel.options.type ?? "scalar");
  return all.find((info) => info.key === key && info.kind === kind) ?? { key, kind, section: "", runs: 0, x: null };
}

/** Automatic panels that stand elsewhere, or are hidden. */
export const taken = computed<ReadonlySet<string>>(() => {
  const own = panelsOf(space.value)
    .filter((panel) => panel.kind === "metric")
    .map((panel) => panelId({ key: String(panel.options.key), kind: String(panel.options.type ?? "scalar") }));
  return new Set([...own, ...space.value.gone]);
});

/** The runs as panels of reports want them. */
export function asReportRuns(ids: readonly string[]): ReportRun[] {
  return ids.flatMap((id) => {
    const row = known.value.get(id);
    return row
      ? [{ id, name: row.name, project: row.project, status: row.status, hue: row.hue ?? 0, created: row.created }]
      : [];
  });
}
