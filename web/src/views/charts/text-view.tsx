/** Logged text: plain as it is, Markdown through our own small reader, so that nothing in it runs or is fetched. */

import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import { type Block, type Inline, parseMarkdown } from "../../lib/chart-markdown";
import type { MediaItem } from "../../lib/schema";

export function TextView({ item }: { item: MediaItem }) {
  const text = item.text ?? "";
  const markdown = item.meta.format === "markdown";
  const tree = useMemo(() => (markdown ? parseMarkdown(text) : []), [text, markdown]);
  if (!markdown) return <pre class="plain-text">{text}</pre>;
  return <div class="markdown">{tree.map(blockView)}</div>;
}

function blockView(block: Block, at: number) {
  switch (block.kind) {
    case "heading": {
      const Tag = `h${Math.min(6, block.level + 2)}` as "h3";
      return <Tag key={at}>{block.children.map(inlineView)}</Tag>;
    }
    case "paragraph":
      return <p key={at}>{block.children.map(inlineView)}</p>;
    case "code":
      return (
        <pre key={at}>
          <code>{block.text}</code>
        </pre>
      );
    case "quote":
      return <blockquote key={at}>{block.children.map(blockView)}</blockquote>;
    case "list": {
      const items = block.items.map((item, i) => <li key={i}>{item.map(tight)}</li>);
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
function tight(block: Block, at: number) {
  return block.kind === "paragraph" ? <Fragment key={at}>{block.children.map(inlineView)}</Fragment> : blockView(block, at);
}

function TableBlock({ block }: { block: Extract<Block, { kind: "table" }> }) {
  return (
    <table>
      <thead>
        <tr>
          {block.head.map((cell, i) => (
            <th key={i}>{cell.map(inlineView)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {block.rows.map((row, r) => (
          <tr key={r}>
            {row.map((cell, i) => (
              <td key={i}>{cell.map(inlineView)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inlineView(node: Inline, at: number) {
  switch (node.kind) {
    case "text":
      return node.text;
    case "code":
      return <code key={at}>{node.text}</code>;
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
        <span key={at} class="no-image" title={node.href ?? ""}>
          [image: {node.alt || "not loaded"}]
        </span>
      );
  }
}
