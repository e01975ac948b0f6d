/**
 * A workspace: sections of one's own with panels in them, as plain data. Every change gives a new one; nothing here
 * draws.
 */

import { type Codec, json } from "./url";

export type Options = Readonly<Record<string, unknown>>;

export interface OwnPanel {
  id: string;
  /** `metric` for a panel as the runs logged it, else a kind of `panels/`. */
  kind: string;
  options: Options;
  /** Columns it takes. */
  w?: number;
  /** Height in pixels. */
  h?: number;
  pinned?: boolean;
}

export interface OwnSection {
  id: string;
  name: string;
  panels: readonly OwnPanel[];
  closed?: boolean;
}

export interface Size {
  w?: number;
  h?: number;
}

export interface Workspace {
  sections: readonly OwnSection[];
  /** Sizes of automatic panels, by the panel's id. */
  sizes: Readonly<Record<string, Size>>;
  /** Automatic panels that are hidden. */
  gone: readonly string[];
}

export const EMPTY: Workspace = { sections: [], sizes: {}, gone: [] };
export const MOST_COLUMNS = 6;
export const HEIGHT = { least: 120, most: 1200, step: 20 } as const;
const MOST_SECTIONS = 100;
const MOST_PANELS = 500;

/** Where a panel goes: into a section, before another panel or (null) at its end. */
export interface Spot {
  section: string;
  before: string | null;
}

export const panelsOf = (space: Workspace): OwnPanel[] => space.sections.flatMap((section) => section.panels);
export const panelNamed = (space: Workspace, id: string): OwnPanel | undefined =>
  panelsOf(space).find((panel) => panel.id === id);

/** An id that nothing in the workspace has. */
function freshId(space: Workspace): string {
  const taken = new Set([...space.sections, ...panelsOf(space)].map((one) => one.id));
  let n = taken.size + 1;
  while (taken.has(n.toString(36))) n++;
  return n.toString(36);
}

function withSection(space: Workspace, id: string, change: (section: OwnSection) => OwnSection): Workspace {
  return { ...space, sections: space.sections.map((section) => (section.id === id ? change(section) : section)) };
}

function withPanel(space: Workspace, id: string, change: (panel: OwnPanel) => OwnPanel): Workspace {
  const changed = (panels: readonly OwnPanel[]) => panels.map((panel) => (panel.id === id ? change(panel) : panel));
  return { ...space, sections: space.sections.map((section) => ({ ...section, panels: changed(section.panels) })) };
}

/** A new section at the end, or before another. */
export function addSection(space: Workspace, name: string, before: string | null = null): Workspace {
  if (space.sections.length >= MOST_SECTIONS) return space;
  const at = space.sections.findIndex((section) => section.id === before);
  const sections = [...space.sections];
  sections.splice(at < 0 ? sections.length : at, 0, { id: freshId(space), name, panels: [] });
  return { ...space, sections };
}

export const renameSection = (space: Workspace, id: string, name: string): Workspace =>
  withSection(space, id, (section) => ({ ...section, name }));
export const removeSection = (space: Workspace, id: string): Workspace => ({
  ...space,
  sections: space.sections.filter((section) => section.id !== id),
});

export function foldSection(space: Workspace, id: string): Workspace {
  return withSection(space, id, ({ closed, ...section }) => (closed ? section : { ...section, closed: true }));
}

/** The section one place up or down; at an end nothing changes. */
export function moveSection(space: Workspace, id: string, by: -1 | 1): Workspace {
  const from = space.sections.findIndex((section) => section.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= space.sections.length) return space;
  const sections = [...space.sections];
  const [moved] = sections.splice(from, 1);
  sections.splice(to, 0, moved as OwnSection);
  return { ...space, sections };
}

/** A panel put at a place; without any section one is made for it. */
export function addPanel(space: Workspace, panel: Omit<OwnPanel, "id">, spot: Spot | null = null): Workspace {
  if (panelsOf(space).length >= MOST_PANELS) return space;
  const home = spot?.section ?? space.sections.at(-1)?.id;
  if (home === undefined) return addPanel(addSection(space, "My panels"), panel);
  const made = { ...panel, id: freshId(space) };
  return withSection(space, home, (section) => ({
    ...section,
    panels: inserted(section.panels, made, spot?.before ?? null),
  }));
}

function inserted(panels: readonly OwnPanel[], panel: OwnPanel, before: string | null): OwnPanel[] {
  const at = panels.findIndex((other) => other.id === before);
  const next = [...panels];
  next.splice(at < 0 ? next.length : at, 0, panel);
  return next;
}

export function removePanel(space: Workspace, id: string): Workspace {
  return {
    ...space,
    sections: space.sections.map((section) => ({
      ...section,
      panels: section.panels.filter((panel) => panel.id !== id),
    })),
  };
}

export function movePanel(space: Workspace, id: string, spot: Spot): Workspace {
  const panel = panelNamed(space, id);
  if (!panel || spot.before === id || !space.sections.some((section) => section.id === spot.section)) return space;
  return withSection(removePanel(space, id), spot.section, (section) => ({
    ...section,
    panels: inserted(section.panels, panel, spot.before),
  }));
}

/** One place to the left or right, or into the section above or below. */
export function nudgePanel(space: Workspace, id: string, way: "left" | "right" | "up" | "down"): Workspace {
  const at = space.sections.findIndex((section) => section.panels.some((panel) => panel.id === id));
  const home = space.sections[at];
  if (!home) return space;
  if (way === "up" || way === "down") {
    const next = space.sections[at + (way === "up" ? -1 : 1)];
    return next ? movePanel(space, id, { section: next.id, before: null }) : space;
  }
  const place = home.panels.findIndex((panel) => panel.id === id);
  const others = home.panels.filter((panel) => panel.id !== id);
  const to = place + (way === "left" ? -1 : 1);
  if (to < 0 || to > others.length) return space;
  return movePanel(space, id, { section: home.id, before: others[to]?.id ?? null });
}

export const changePanel = (space: Workspace, id: string, kind: string, options: Options): Workspace =>
  withPanel(space, id, (panel) => ({ ...panel, kind, options }));
export const resizePanel = (space: Workspace, id: string, size: Size): Workspace =>
  withPanel(space, id, (panel) => ({ ...panel, ...clampedSize({ ...panel, ...size }) }));
export const pinPanel = (space: Workspace, id: string): Workspace =>
  withPanel(space, id, ({ pinned, ...panel }) => (pinned ? panel : { ...panel, pinned: true }));

/** The same panel once more, behind it. */
export function copyPanel(space: Workspace, id: string): Workspace {
  const section = space.sections.find((one) => one.panels.some((panel) => panel.id === id));
  const at = section?.panels.findIndex((panel) => panel.id === id) ?? -1;
  const panel = section?.panels[at];
  if (!section || !panel) return space;
  const { id: _, ...same } = panel;
  return addPanel(space, same, { section: section.id, before: section.panels[at + 1]?.id ?? null });
}

/** The size of an automatic panel. */
export function sizeAutomatic(space: Workspace, panel: string, size: Size): Workspace {
  return { ...space, sizes: { ...space.sizes, [panel]: clampedSize({ ...space.sizes[panel], ...size }) } };
}

export const hideAutomatic = (space: Workspace, panel: string): Workspace => ({
  ...space,
  gone: [...new Set([...space.gone, panel])],
});
export const showAutomatic = (space: Workspace): Workspace => ({ ...space, gone: [] });

function clampedSize({ w, h }: Size): Size {
  const size: Size = {};
  if (w !== undefined) size.w = Math.min(MOST_COLUMNS, Math.max(1, Math.round(w)));
  if (h !== undefined)
    size.h = Math.min(HEIGHT.most, Math.max(HEIGHT.least, Math.round(h / HEIGHT.step) * HEIGHT.step));
  return size;
}

/**
 * How many columns a grid has: as many as fit, or fewer where that leaves less of the last row empty.
 * One panel has the whole width, four have two rows of two where three would fit.
 */
export function columnsFor(spans: readonly number[], most: number): number {
  const wanted = spans.reduce((sum, w) => sum + w, 0);
  if (wanted <= most) return Math.max(1, wanted);
  const widest = Math.min(most, Math.max(1, ...spans));
  let best = most;
  let least = Number.POSITIVE_INFINITY;
  for (let columns = most; columns >= Math.max(widest, Math.ceil(most * 0.6)); columns--) {
    const empty = Math.ceil(wanted / columns) * columns - wanted;
    // An empty place in a long section is hardly seen; in a short one it is half the page.
    const part = empty / (Math.ceil(wanted / columns) * columns);
    if (part < least - 0.02) {
      least = part;
      best = columns;
    }
  }
  return best;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown, most: number): value is string => typeof value === "string" && value.length <= most;
const isSize = (value: unknown): boolean =>
  value === undefined || (typeof value === "number" && Number.isFinite(value));

const isPanel = (value: unknown): value is OwnPanel =>
  isObject(value) &&
  isText(value.id, 20) &&
  isText(value.kind, 40) &&
  isObject(value.options) &&
  isSize(value.w) &&
  isSize(value.h);
const isSection = (value: unknown): value is OwnSection =>
  isObject(value) &&
  isText(value.id, 20) &&
  isText(value.name, 200) &&
  Array.isArray(value.panels) &&
  value.panels.length <= MOST_PANELS &&
  value.panels.every(isPanel);

function isWorkspace(value: unknown): value is Workspace {
  if (
    !isObject(value) ||
    !Array.isArray(value.sections) ||
    value.sections.length > MOST_SECTIONS ||
    !value.sections.every(isSection)
  )
    return false;
  const sizes = value.sizes ?? {};
  const gone = value.gone ?? [];
  return (
    isObject(sizes) &&
    Object.values(sizes).every((size) => isObject(size) && isSize(size.w) && isSize(size.h)) &&
    Array.isArray(gone) &&
    gone.every((one) => isText(one, 2000))
  );
}

/** In the address as JSON without what is empty; an address that cannot be read is the empty workspace. */
export const workspaceCodec: Codec<Workspace> = (() => {
  const inner = json(isWorkspace);
  return {
    write(space) {
      if (space.sections.length === 0 && Object.keys(space.sizes).length === 0 && space.gone.length === 0) return "";
      const parts = {
        sections: space.sections,
        ...(Object.keys(space.sizes).length ? { sizes: space.sizes } : {}),
        ...(space.gone.length ? { gone: space.gone } : {}),
      };
      return JSON.stringify(parts);
    },
    read(text) {
      const found = inner.read(text);
      return found && unique({ ...EMPTY, ...found });
    },
  };
})();

/** A hand-written address may give two panels one id; the second would then move the first. */
function unique(space: Workspace): Workspace | undefined {
  const ids = [...space.sections, ...panelsOf(space)].map((one) => one.id);
  return new Set(ids).size === ids.length ? space : undefined;
}
