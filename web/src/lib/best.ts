/** Which way a metric is good, from its name, and the best value of a column. Unknown names are not guessed. */

import type { Cell } from "./schema";

export type Goal = "min" | "max" | null;

const LESS =
  /(^|[_\-/.\s])(loss|nll|elbo_loss|err|error|errors|mse|mae|rmse|ppl|perplexity|cer|wer|fid|kl|bpb|bpc|regret|rmsle)($|[_\-/.\s\d])/i;
const MORE =
  /(^|[_\-/.\s])(acc|acc1|acc5|accuracy|auc|auroc|auprc|f1|iou|miou|dice|bleu|rouge|map|ap|precision|recall|reward|return|psnr|ssim|r2|score|top1|top5|elbo)($|[_\-/.\s\d])/i;

/** The goal of a column key such as `val/loss.min`. A count or a step has none. */
export function goalOf(key: string): Goal {
  const stat = /\.(last|min|max|mean|first|count|nan|inf|last_step|min_step|max_step)$/.exec(key)?.[1];
  if (stat && /count|nan|inf|step|first/.test(stat)) return null;
  const name = stat ? key.slice(0, -stat.length - 1) : key;
  if (name.startsWith("config.") || name.startsWith("system/")) return null;
  if (LESS.test(name)) return "min";
  return MORE.test(name) ? "max" : null;
}

/** The best finite number of a column; null when fewer than two runs have one, or when all are alike. */
export function bestOf(values: Iterable<Cell | undefined>, goal: Goal): number | null {
  if (goal === null) return null;
  let best: number | null = null;
  let worst: number | null = null;
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    if (best === null || (goal === "min" ? value < best : value > best)) best = value;
    if (worst === null || (goal === "min" ? value > worst : value < worst)) worst = value;
  }
  return best === worst ? null : best;
}
