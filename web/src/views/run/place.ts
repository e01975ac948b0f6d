/** Which part of a run's page is shown. In the address as `part`, and `finding` for one finding. */

import { formatHash, oneOf, text } from "../../lib/url";
import { go, linkTo, param, place } from "../../router";

export const PARTS = [
  "overview",
  "charts",
  "findings",
  "media",
  "distributions",
  "model",
  "profile",
  "console",
  "system",
  "ranks",
  "files",
  "step",
] as const;
export type PartId = (typeof PARTS)[number];

export const TITLES: Record<PartId, string> = {
  overview: "Overview",
  charts: "Charts",
  findings: "Findings",
  media: "Media",
  distributions: "Distributions",
  model: "Model",
  profile: "Profile",
  console: "Console",
  system: "System",
  ranks: "Ranks",
  files: "Files",
  step: "Step",
}; // prettier-ignore

export const part = param<PartId>("part", "overview", oneOf(...PARTS));
/** The id of the finding that a permalink points at: `opt.no-zero-grad:1`. */
export const wantedFinding = param<string>("finding", "", text);

const queryOf = (id: PartId): Record<string, string> => ({ part: id === "overview" ? "" : id, finding: "" });

/** Shows a part; a step for the back button. */
export function goPart(id: PartId, query: Record<string, string> = {}): void {
  if (id !== part.peek() || Object.keys(query).length > 0) go(place.peek().path, { ...queryOf(id), ...query });
}

export function linkToPart(run: string, id: PartId, query: Record<string, string> = {}): string {
  return linkTo(`/run/${encodeURIComponent(run)}`, { ...queryOf(id), ...query });
}

/** A short address of one finding, without the layout of who sends it. */
export function permalink(run: string, finding: string): string {
  return formatHash({ path: `/run/${encodeURIComponent(run)}`, query: { part: "findings", finding } });
}

/** The page is left: the next run opens on its first part again. */
export function leavePart(): void {
  part.value = "overview";
  wantedFinding.value = "";
}

const AIR = 12;

/**
 * Scrolls the part, and only the part, until an element is at its top. `scrollIntoView` would move the page's frames
 * too.
 */
export function bringUp(element: Element | null | undefined): void {
  const frame = element?.closest(".part-scroll");
  if (element && frame)
    frame.scrollTop += element.getBoundingClientRect().top - frame.getBoundingClientRect().top - AIR;
}
