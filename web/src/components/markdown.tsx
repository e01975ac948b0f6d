/** Markdown as elements, through our own small reader: nothing in it runs, and nothing is fetched. */

import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import { visibleText } from "../lib/format";
import { type Block, type Inline, parseMarkdown } from "../lib/markdown";

export interface MarkdownProps {
  text: string;
  /** How much deeper headings are here than in the text: a note's first heading is no title of the page. */
  deeper?: number;
  class?: string;
}

export function Markdown({ text, deeper = 2, class: extra = "markdown" }: MarkdownProps) {
  const tree = useMemo(() => parseMarkdown(text), [text]);
  const highest = Math.min(6, ...tree.flatMap((block) => (block.kind === "heading" ? [block.level] : [])));
  // A note that begins with ## stands under its section's heading like one that begins with #.
  return <div class={extra}>{markdownBlocks(tree, deeper >= 2 ? deeper + 1 - highest : deeper)}</div>;
}

/** The same without a box of its own. */
export function markdownBlocks(tree: readonly Block[], deeper = 2) {
  return tree.map((block, at) => blockView(block, at, deeper));
}

function blockView(block: Block, at: number, deeper: number) {
  switch (block.kind) {
    case "heading": {
      const Tag = `h${Math.min(6, block.level + deeper)}` as "h3";
      return <Tag key={at}>{block.children.map(inlineView)}</Tag>;
    }
    case "paragraph":
      return <p key={at}>{block.children.map(inlineView)}</p>;
    case "code":
      return (
        <pre key={at} tabIndex={0}>
          <code>{visibleText(block.text)}</code>
        </pre>
      );
    case "quote":
      return <blockquote key={at}>{markdownBlocks(block.children, deeper)}</blockquote>;
    case "list": {
      const items = block.items.map((item, i) => <li key={i}>{item.map((inner, n) => tight(inner, n, deeper))}</li>);
      return block.ordered ? (
        <ol key={at} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={at}>{items}</ul>
      );
    }
    case "table":
      return <TableBlock key={at} block={block} />;
    case "rule":
      return <hr key={at} />;
  }
}

/** A paragraph inside a list item needs no air around it. */
function tight(block: Block, at: number, deeper: number) {
  return block.kind === "paragraph" ? (
    <Fragment key={at}>{block.children.map(inlineView)}</Fragment>
  ) : (
    blockView(block, at, deeper)
  );
}

function TableBlock({ block }: { block: Extract<Block, { kind: "table" }> }) {
  return (
    <table>
      <thead>
        <tr>
          {block.head.map((cell, i) => (
            <th key={i} data-align={block.align[i] ?? undefined}>
              {cell.map(inlineView)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {block.rows.map((row, r) => (
          <tr key={r}>
            {row.map((cell, i) => (
              <td key={i} data-align={block.align[i] ?? undefined}>
                {cell.map(inlineView)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function inlineView(node: Inline, at: number) {
  switch (node.kind) {
    case "text":
      return visibleText(node.text);
    case "code":
      return <code key={at}>{visibleText(node.text)}</code>;
    case "break":
      return <br key={at} />;
    case "strong":
      return <strong key={at}>{node.children.map(inlineView)}</strong>;
    case "em":
      return <em key={at}>{node.children.map(inlineView)}</em>;
    case "strike":
      return <s key={at}>{node.children.map(inlineView)}</s>;
    case "link":
      return (
        <a key={at} href={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {node.children.map(inlineView)}
        </a>
      );
    case "image":
      // A remote image would tell its server who reads this; it is named, not fetched.
      return (
        <span key={at} class="quiet" title={node.href ?? ""}>
          [image: {node.alt || "not loaded"}]
        </span>
      );
  }
}
