/** What is looked at among a run's files, in the address. */

import { text } from "../../../lib/url";
import { param } from "../../../router";

/** `vae:3` (name and version), `~steps` for saved steps, `~folder` for the run folder; "" for what is newest. */
export const chosen = param<string>("artifact", "", text, true);
/** The folder inside the artifact. */
export const folder = param<string>("folder", "", text);
/** The file that is shown. */
export const file = param<string>("file", "", text);
/** The version that is compared with; "" for none. */
export const against = param<string>("against", "", text);

let shown = "";

/** A file of one run means nothing in another. */
export function arriveAt(run: string): void {
  if (shown !== "" && shown !== run) chosen.value = folder.value = file.value = against.value = "";
  shown = run;
}

export interface VersionRef {
  name: string;
  version: number;
}

export function readRef(value: string): VersionRef | null {
  const at = value.lastIndexOf(":");
  const version = value.slice(at + 1);
  return at > 0 && /^\d+$/.test(version) ? { name: value.slice(0, at), version: Number(version) } : null;
}

export const writeRef = ({ name, version }: VersionRef): string => `${name}:${version}`;

export function choose(value: string): void {
  folder.value = "";
  file.value = "";
  against.value = "";
  chosen.value = value;
}
