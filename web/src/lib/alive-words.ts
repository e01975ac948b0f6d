/** How a run does right now, in a few words. */

import { formatBytes, formatDuration, formatNumber } from "./format";
import type { Alive } from "./schema";

export const speedWords = (perSecond: number | null): string => {
  if (perSecond === null) return "";
  if (perSecond >= 1) return `${formatNumber(perSecond, 3)} steps/s`;
  return `${formatNumber(1 / perSecond, 3)} s/step`;
};

/** `2 s ago`; under two seconds it is simply now. */
export const ageWords = (silent: number | null): string =>
  silent === null ? "" : silent < 2 ? "now" : `${formatDuration(Math.round(silent))} ago`;

export const percentWords = (part: number | null): string =>
  part === null ? "" : `${part >= 0.995 && part < 1 ? 99 : Math.round(part * 100)}%`;

/** Rounded: a guess that counts seconds down from an hour would promise too much. */
export const leftWords = (eta: number | null): string => {
  if (eta === null) return "";
  if (eta < 1) return "almost done";
  return `${formatDuration(eta < 60 ? Math.round(eta) : Math.round(eta / 60) * 60)} left`;
};

export const machineWords = (alive: Alive): string[] =>
  [
    alive.gpu_percent === null ? "" : `GPU ${Math.round(alive.gpu_percent)}%`,
    alive.gpu_memory_percent === null ? "" : `GPU memory ${Math.round(alive.gpu_memory_percent)}%`,
    alive.cpu_percent === null ? "" : `CPU ${Math.round(alive.cpu_percent)}%`,
    alive.memory_bytes === null ? "" : `${formatBytes(alive.memory_bytes)} memory`,
  ].filter(Boolean);

/** What stands in a narrow cell: what is wrong, else how far it is, else how fast. */
export function shortWords(alive: Alive): string {
  if (alive.state === "diverged") return "diverged";
  if (alive.state === "waiting") return "waiting";
  if (alive.state === "stalled") return `stalled ${ageWords(alive.silent_s)}`.trim();
  if (alive.state === "quiet") return "starting";
  if (alive.progress !== null)
    return [percentWords(alive.progress), leftWords(alive.eta_s)].filter(Boolean).join(" · ");
  return [alive.step === null ? "" : `step ${alive.step.toLocaleString("en-US")}`, speedWords(alive.steps_per_s)]
    .filter(Boolean)
    .join(" · ");
}
