/** The verdict as text, for an issue or a chat. */

import type { ProfileAdvice } from "./schema";

/** The headline, then numbered advice with its place, its fix and its gain. */
export function adviceMarkdown(advice: ProfileAdvice): string {
  const lines = advice.advice.map(({ finding, gain }, at) => {
    const place = finding.place ? ` (\`${finding.place}\`)` : "";
    return `${at + 1}. ${oneLine(finding.message)}${place}  \n   ${oneLine(finding.fix)}: **${oneLine(gain)}**`;
  });
  return [`**${oneLine(advice.headline)}**`, "", ...lines].join("\n");
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
