/** The pieces a run's page is made of. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { copyText, IconButton, TextInput } from "../../components";
import { CopyIcon, SearchIcon } from "../../components/icons";
import { formatCell, formatNumber, visibleText } from "../../lib/format";
import "../../style/cards.css";

export interface SectionProps {
  title: string;
  /** Beside the title. */
  aside?: ComponentChildren;
  id?: string;
  class?: string;
  children?: ComponentChildren;
}

export function Section({ title, aside, id, class: extra = "", children }: SectionProps) {
  return (
    <section class={`card ${extra}`} aria-label={title} id={id}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Text of a machine: shown as it is, scrolled, copied with one click. */
/** `shown` is what stands there where it is not the text that is copied. */
export function Code(props: { text: string; shown?: string; label: string; tall?: boolean }) {
  const { text, shown = text, label, tall = false } = props;
  return (
    <div class="code">
      <pre class={tall ? "code-tall isolate" : "isolate"} tabIndex={0} role="group" aria-label={label}>
        {visibleText(shown)}
      </pre>
      <IconButton label={`Copy: ${label}`} onClick={() => void copyText(text)}>
        <CopyIcon size={14} />
      </IconButton>
    </div>
  );
}

const SEARCH_FROM = 12;

/** A search field for a card; shown when there is enough to search in. */
export function CardSearch({
  title,
  amount,
  value,
  onInput,
}: {
  title: string;
  amount: number;
  value: string;
  onInput(value: string): void;
}) {
  if (amount < SEARCH_FROM) return null;
  return (
    <TextInput
      class="card-search"
      label={`Find in ${title}`}
      placeholder="Find"
      icon={<SearchIcon size={12} />}
      value={value}
      onInput={onInput}
    />
  );
}

export type Pair = readonly [string, unknown];

/** Names and values; a search field when there are many. */
export function Pairs({ title, pairs, aside }: { title: string; pairs: readonly Pair[]; aside?: ComponentChildren }) {
  const [search, setSearch] = useState("");
  if (pairs.length === 0) return null;
  const wanted = search.trim().toLowerCase();
  const fits = pairs.filter(([key, value]) => `${key} ${wordsOf(value)}`.toLowerCase().includes(wanted));
  return (
    <Section
      title={title}
      aside={
        <>
          <CardSearch title={title} amount={pairs.length} value={search} onInput={setSearch} />
          {aside}
        </>
      }
    >
      <PairList pairs={fits} label={title} />
      {fits.length === 0 ? <NothingFits search={search} /> : null}
    </Section>
  );
}

export function NothingFits({ search }: { search: string }) {
  return <p class="anywhere quiet card-none">Nothing has “{visibleText(search)}” in it.</p>;
}

/** A long list scrolls by itself, and so has to be reached by the keyboard. */
export function PairList({ pairs, label }: { pairs: readonly Pair[]; label: string }) {
  const long = pairs.length > 16;
  return (
    <div class="pairs-scroll" {...(long ? { tabIndex: 0, role: "group", "aria-label": label } : {})}>
      <dl class="px-4 py-2 facts pairs">
        {pairs.map(([key, value]) => (
          <PairRow key={key} name={key} value={value} />
        ))}
      </dl>
    </div>
  );
}

interface PairProps {
  readonly name: string;
  readonly value: unknown;
  readonly title?: string;
  /** Where the value comes from. */
  readonly note?: string | undefined;
}

export function PairRow({ name, value, title = name, note }: PairProps) {
  return (
    <div>
      <dt class="isolate" title={visibleText(title)}>
        {visibleText(name)}
      </dt>
      <dd class="isolate" title={typeof value === "number" ? String(value) : undefined}>
        {visibleText(wordsOf(value))}
        {note ? <span class="pair-note"> {visibleText(note)}</span> : null}
      </dd>
    </div>
  );
}

export function wordsOf(value: unknown): string {
  if (typeof value === "number") return formatNumber(value, 6);
  if (value === null || typeof value === "boolean" || typeof value === "string")
    return value === null ? "null" : formatCell(value);
  return JSON.stringify(value);
}
