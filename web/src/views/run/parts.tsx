/** The pieces a run's page is made of. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { copyText, IconButton, TextInput } from "../../components";
import { CopyIcon, SearchIcon } from "../../components/icons";
import { formatCell, formatNumber, visibleText } from "../../lib/format";

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Text of a machine: shown as it is, scrolled, copied with one click. */
export function Code({ text, label, tall = false }: { text: string; label: string; tall?: boolean }) {
  return (
    <div class="code">
      <pre class={tall ? "code-tall isolate" : "isolate"} tabIndex={0} aria-label={label}>
        {visibleText(text)}
      </pre>
      <IconButton label={`Copy: ${label}`} onClick={() => void copyText(text)}>
        <CopyIcon size={14} />
      </IconButton>
    </div>
  );
}

const SEARCH_FROM = 12;

/** Names and values; a search field when there are many. */
export function Pairs({ title, pairs }: { title: string; pairs: readonly (readonly [string, unknown])[] }) {
  const [search, setSearch] = useState("");
  if (pairs.length === 0) return null;
  const wanted = search.trim().toLowerCase();
  const fits = pairs.filter(([key, value]) => `${key} ${wordsOf(value)}`.toLowerCase().includes(wanted));
  return (
    <Section
      title={title}
      aside={
        pairs.length >= SEARCH_FROM ? (
          <TextInput
            class="card-search"
            label={`Find in ${title}`}
            placeholder="Find"
            icon={<SearchIcon size={12} />}
            value={search}
            onInput={setSearch}
          />
        ) : null
      }
    >
      <dl class="pairs">
        {fits.map(([key, value]) => (
          <div key={key}>
            <dt class="isolate" title={visibleText(key)}>
              {visibleText(key)}
            </dt>
            <dd class="isolate" title={typeof value === "number" ? String(value) : undefined}>
              {visibleText(wordsOf(value))}
            </dd>
          </div>
        ))}
      </dl>
      {fits.length === 0 ? <p class="card-none">Nothing has “{visibleText(search)}” in it.</p> : null}
    </Section>
  );
}

export function wordsOf(value: unknown): string {
  if (typeof value === "number") return formatNumber(value, 6);
  if (value === null || typeof value === "boolean" || typeof value === "string")
    return value === null ? "null" : formatCell(value);
  return JSON.stringify(value);
}
