/** How the console is shown, in the address: a link shows the same lines to everybody. */

import { computed } from "@preact/signals";
import { readLines } from "../../../lib/console-scroll";
import { flag, oneOf, text } from "../../../lib/url";
import { param } from "../../../router";

export const search = param<string>("grep", "", text);
export const regex = param<boolean>("grepre", false, flag);
/** Only lines that the search finds. */
export const only = param<boolean>("greponly", false, flag);
export type StreamChoice = "" | "stdout" | "stderr";
export const stream = param<StreamChoice>("stream", "", oneOf("", "stdout", "stderr"));
/** A rank's number, or "" for all. */
export const rank = param<string>("crank", "", text);
/** Also the earlier forms of progress bars. */
export const rewrites = param<boolean>("forms", false, flag);
export const wrap = param<boolean>("wrap", false, flag);
export type Stamps = "none" | "clock" | "since";
export const stamps = param<Stamps>("stamps", "none", oneOf("none", "clock", "since"));
/** `120` or `120-140`: the lines that were picked, counted from 1 as they are shown. */
export const line = param<string>("line", "", text);
/** Scrolls to what was printed in this step. */
export const step = param<string>("step", "", text);

/** The picked lines, counted from 0 as the server does. */
export const picked = computed(() => {
  const found = readLines(line.value);
  return found && { first: found.first - 1, last: found.last - 1 };
});

let shown = "";

/** Lines and steps of one run mean nothing in another. */
export function arriveAt(run: string): void {
  if (shown !== "" && shown !== run) line.value = step.value = rank.value = "";
  shown = run;
}

/** What the server is asked for, besides which rows. */
export interface Filters {
  rank: number | null;
  stream: StreamChoice;
  rewrites: boolean;
  search: string;
  regex: boolean;
  only: boolean;
}

export const filters = computed<Filters>(() => ({
  rank: /^\d+$/.test(rank.value) ? Number(rank.value) : null,
  stream: stream.value,
  rewrites: rewrites.value,
  search: search.value,
  regex: regex.value && search.value !== "",
  only: only.value && search.value !== "",
}));
