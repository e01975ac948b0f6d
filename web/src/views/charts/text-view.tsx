/** Logged text: plain as it is, or Markdown. */

import { Markdown } from "../../components/markdown";
import type { MediaItem } from "../../lib/schema";

export function TextView({ item }: { item: MediaItem }) {
  const text = item.text ?? "";
  return item.meta.format === "markdown" ? <Markdown text={text} /> : <pre class="plain-text">{text}</pre>;
}
