/**
 * Panels in their sections, in the order the server gives them: what matters first, the machine's metrics last and
 * closed.
 */

import type { PanelInfo } from "./schema";
import { systemTitle } from "./system-groups";

export interface Section {
  /** "" for metrics without a prefix. */
  name: string;
  label: string;
  panels: PanelInfo[];
  /** Open unless the address says otherwise. */
  open: boolean;
}

/** The section of media whose keys have no prefix. */
const MEDIA = "media";
const LABELS: Record<string, string> = { "": "Metrics", [MEDIA]: "Media", watched: "Recorded by Stepscope" };

/** Sections beyond the first two hundred panels start closed, so that a page of thousands opens at once. */
const OPEN_PANELS = 200;

/** A panel is named by its key and kind: one key may hold a number in one run and an image in another. */
export const panelId = (panel: Pick<PanelInfo, "key" | "kind">): string =>
  panel.kind === "scalar" ? panel.key : `${panel.key}\u0001${panel.kind}`;

export function sections(panels: readonly PanelInfo[]): Section[] {
  const groups = new Map<string, PanelInfo[]>();
  for (const panel of panels) {
    const name = panel.section || (panel.kind === "scalar" ? "" : MEDIA);
    const group = groups.get(name);
    if (group) group.push(panel);
    else groups.set(name, [panel]);
  }
  let before = 0;
  return [...groups].map(([name, own]) => {
    const open = name !== "system" && before < OPEN_PANELS;
    before += own.length;
    return { name, label: LABELS[name] ?? name, panels: own, open };
  });
}

/** The pinned panels, in the order they were pinned; pins of keys that no run has are left out. */
export function pinnedPanels(panels: readonly PanelInfo[], pins: readonly string[]): PanelInfo[] {
  const byId = new Map(panels.map((p) => [panelId(p), p]));
  return pins.map((id) => byId.get(id)).filter((p): p is PanelInfo => p !== undefined);
}

/** A panel's title inside its section: the prefix is on the section already. */
export function shortTitle(panel: PanelInfo): string {
  if (panel.key.startsWith("system/")) return systemTitle(panel.key);
  const prefix = `${panel.section}/`;
  return panel.section && panel.key.startsWith(prefix) && panel.key.length > prefix.length
    ? panel.key.slice(prefix.length)
    : panel.key;
}
