/** `@name` in a comment: which name is being typed, and a mention as a notice under the bell. */

import type { CommentRow, Notice } from "./schema";

/** The beginning of a name before the caret, and where its `@` stands; null where none is being typed. */
export function typedName(text: string, caret: number): { at: number; start: string } | null {
  const found = /(?:^|[^\w@])@([A-Za-z0-9._@+-]{0,100})$/.exec(text.slice(0, caret));
  return found ? { at: caret - (found[1] as string).length - 1, start: found[1] as string } : null;
}

/** The text with the name that is being typed completed, and where the caret stands then. */
export function completed(text: string, caret: number, name: string): { text: string; caret: number } {
  const typed = typedName(text, caret);
  if (!typed) return { text, caret };
  const head = `${text.slice(0, typed.at)}@${name} `;
  return { text: head + text.slice(caret).replace(/^ /, ""), caret: head.length };
}

/** Where a comment stands: "train/loss, step 120"; empty for the run or the report as a whole. */
export function placeWords(comment: Pick<CommentRow, "chart" | "step">): string {
  const step = comment.step === null ? "" : `step ${comment.step.toLocaleString("en-US")}`;
  return [comment.chart ?? "", step].filter(Boolean).join(", ");
}

export function mentionNotice(comment: CommentRow): Notice {
  return {
    run: comment.run ?? "",
    title: `${comment.user} mentioned you`,
    text: comment.text.slice(0, 300),
    level: "info",
    kind: "mention",
    id: `mention/${comment.id}`,
    time: comment.created,
    name: comment.report === null ? placeWords(comment) || "run" : "report",
    project: comment.report ?? "",
  };
}
