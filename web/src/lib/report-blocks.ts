/**
 * A report's blocks on the page: the contents list, anchors, and keys that keep panels alive while the text changes.
 */

import { type Block, type Inline, parseMarkdown } from "./markdown";
import type { MarkdownBlock, PanelBlock } from "./schema";

export type ReportBlock = MarkdownBlock | PanelBlock;

export interface Heading {
  id: string;
  level: number;
  text: string;
}

/** A block with what the page needs of it. `key` stays the same over previews as long as it is the same thing. */
export type Shown =
  | { key: string; kind: "markdown"; block: MarkdownBlock; tree: readonly ShownNode[] }
  | { key: string; kind: "panel"; block: PanelBlock };

export type ShownNode = Block & { id?: string };

/** What a line says without its marks. */
function plainText(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      if (node.kind === "text" || node.kind === "code") return node.text;
      if (node.kind === "break") return " ";
      return node.kind === "image" ? node.alt : plainText(node.children);
    })
    .join("");
}

/** `What we saw` -> `what-we-saw`; letters of all scripts stay. */
export function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "section"
  );
}

/** Headings of the whole report, each with an id of its own. Only the first levels stand in the contents. */
export function headingsOf(shown: readonly Shown[]): Heading[] {
  return shown.flatMap((one) =>
    one.kind === "markdown"
      ? one.tree.flatMap((node) =>
          node.kind === "heading" && node.id
            ? [{ id: node.id, level: node.level, text: plainText(node.children) }]
            : [],
        )
      : [],
  );
}

/** What a panel is, apart from where in the text it stands. */
const sameness = ({ panel, options, runs, error }: PanelBlock): string => JSON.stringify([panel, options, runs, error]);

/**
 * The blocks with keys. A panel that was there before keeps its key and its very object; one whose options changed
 * keeps the key, so that it is redrawn in place instead of removed and added again.
 */
export function settle(before: readonly Shown[], blocks: readonly ReportBlock[]): Shown[] {
  const left = before.filter((one) => one.kind === "panel");
  const found = new Map<PanelBlock, { key: string; block: PanelBlock }>();
  const take = (fits: (old: PanelBlock) => boolean) => {
    const at = left.findIndex((one) => fits(one.block));
    return at < 0 ? null : (left.splice(at, 1)[0] as (typeof left)[number]);
  };
  const panels = blocks.filter((block) => block.kind === "panel");
  for (const block of panels) {
    const old = take((other) => sameness(other) === sameness(block));
    // The parts that components look at stay the same objects; only the place in the text is new.
    if (old) found.set(block, { key: old.key, block: { ...block, options: old.block.options, runs: old.block.runs } });
  }
  for (const block of panels) {
    if (found.has(block)) continue;
    const old = take((other) => other.panel === block.panel);
    found.set(block, { key: old?.key ?? freshKey(), block });
  }
  const used = new Map<string, number>();
  let texts = 0;
  return blocks.map((block) => {
    if (block.kind === "panel") return { kind: "panel", ...(found.get(block) as { key: string; block: PanelBlock }) };
    return { kind: "markdown", key: `text-${texts++}`, block, tree: treeOf(block.text, used) };
  });
}

let made = 0;
const freshKey = (): string => `panel-${++made}`;

function treeOf(text: string, used: Map<string, number>): ShownNode[] {
  return parseMarkdown(text).map((node) => {
    if (node.kind !== "heading") return node;
    const base = slug(plainText(node.children));
    const times = used.get(base) ?? 0;
    used.set(base, times + 1);
    return { ...node, id: times ? `${base}-${times + 1}` : base };
  });
}

/** Whether the text begins with its own title, so that the page need not print one above. */
export function beginsWithTitle(shown: readonly Shown[]): boolean {
  const [first] = shown;
  return first?.kind === "markdown" && first.tree[0]?.kind === "heading" && first.tree[0].level === 1;
}

/** The runs of all panels with the hues that are their own, in the order in which the report shows them. */
export function huesOf(shown: readonly Shown[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const one of shown) {
    if (one.kind === "panel") for (const { id, hue } of one.block.runs) found.set(id, hue);
  }
  return found;
}
