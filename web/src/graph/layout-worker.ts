/** Lays out one box per message, away from the page, so that nothing stutters meanwhile. */

import { placePlan } from "../lib/graph-layout";
import type { Placed, Plan } from "../lib/graph-plan";

export interface Asked {
  id: number;
  plan: Plan;
}

export interface Answered {
  id: number;
  placed: Placed;
}

/** Also called by the single-file viewer, whose one script is page and worker at once. */
export function answerLayouts(scope: Pick<Worker, "postMessage" | "onmessage">): void {
  scope.onmessage = ({ data }: MessageEvent<Asked>) => {
    const answer: Answered = { id: data.id, placed: placePlan(data.plan) };
    scope.postMessage(answer);
  };
}
