/** A finding as Markdown, for an issue or a chat. */

import type { ShownFinding, SourceLine } from "./schema";

export function findingMarkdown(finding: ShownFinding, run: string, link: string): string {
  const step = finding.step === null ? "" : `, step ${finding.step}`;
  const where = finding.place
    ? `\`${oneLine(finding.place).replace(/`/g, "'")}\`${inFunction(finding)}${step}`
    : step.slice(2);
  const parts = [
    `**${finding.severity}: ${oneLine(finding.message)}** (\`${oneLine(finding.rule).replace(/`/g, "'")}\`)`,
    where,
    sourceBlock(finding.lines),
    finding.seen ? `Seen: ${oneLine(finding.seen)}` : "",
    finding.fix ? `Fix: ${oneLine(finding.fix)}` : "",
    ...finding.related.map((other) =>
      `${oneLine(other.label) || "Related"}: \`${oneLine(other.place)}\`\n\n${sourceBlock(other.lines)}`.trim(),
    ),
    run || link ? `Run ${oneLine(run)}${link ? `: ${link}` : ""}` : "",
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function inFunction({ function: name }: ShownFinding): string {
  return name && name !== "<module>" ? ` in \`${oneLine(name).replace(/`/g, "'")}\`` : "";
}

function sourceBlock(lines: readonly SourceLine[]): string {
  if (lines.length === 0) return "";
  const width = String(lines[lines.length - 1]?.number ?? 0).length;
  const text = lines
    .map(
      (line) =>
        `${line.marked ? ">" : " "} ${String(line.number).padStart(width)} | ${line.before}${line.marked}${line.after}`,
    )
    .join("\n");
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}python\n${text}\n${fence}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
