/** Choosing and ordering the table's columns. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, Checkbox, IconButton, Popover, TextInput } from "../../components";
import {
  ArrowDownIcon,
  ArrowUpIcon,
  ChevronDownIcon,
  CloseIcon,
  ColumnsIcon,
  SearchIcon,
} from "../../components/icons";
import { visibleText } from "../../lib/format";
import type { RunColumn } from "../../lib/schema";
import { chosenColumns, columnOf, moveColumn, offered, setColumns, shownKeys } from "./settings";

const MOST = 200;
const SECTIONS: readonly [string, string][] = [
  ["run", "Run"],
  ["config", "Config"],
  ["metric", "Metrics"],
  ["summary", "Summary"],
];

export function ColumnPicker() {
  const open = useSignal(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="button"
        aria-haspopup="dialog"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <ColumnsIcon size={14} />
        Columns
      </button>
      {open.value ? (
        <Popover
          anchor={anchor.current}
          label="Columns"
          align="end"
          class="vstack picker"
          onClose={() => (open.value = false)}
        >
          <Picker />
        </Popover>
      ) : null}
    </>
  );
}

function Picker() {
  const search = useSignal("");
  const wanted = search.value.trim().toLowerCase();
  const fits = offered.value.filter((column) => `${column.key} ${column.label}`.toLowerCase().includes(wanted));
  const shown = new Set(shownKeys.value);
  const toggle = (key: string) =>
    setColumns(shown.has(key) ? shownKeys.value.filter((other) => other !== key) : [...shownKeys.value, key]);
  return (
    <div class="vstack picker-body">
      <div class="px-2 py-2 under picker-search">
        <TextInput
          label="Find a column"
          placeholder="Find a column"
          icon={<SearchIcon size={14} />}
          value={search.value}
          inputRef={focusOnce}
          onInput={(text) => (search.value = text)}
        />
      </div>
      <div class="picker-halves">
        <div class="scroll px-2 py-2 picker-list">
          {SECTIONS.map(([source, title]) => (
            <Section
              key={source}
              title={title}
              columns={fits.filter((column) => column.source === source)}
              shown={shown}
              onToggle={toggle}
            />
          ))}
          {fits.length === 0 ? <p class="none">No column has “{visibleText(search.value)}” in its name.</p> : null}
          {fits.length > MOST ? <p class="none">{fits.length - MOST} more: type to find them.</p> : null}
        </div>
        <Order />
      </div>
      {chosenColumns.value.length > 0 ? (
        <footer class="px-2 py-1 over">
          <Button kind="quiet" onClick={() => setColumns([])}>
            Back to the usual columns
          </Button>
        </footer>
      ) : null}
    </div>
  );
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}

interface SectionProps {
  title: string;
  columns: readonly RunColumn[];
  shown: ReadonlySet<string>;
  onToggle(key: string): void;
}

function Section({ title, columns, shown, onToggle }: SectionProps) {
  const shut = useSignal(false);
  if (columns.length === 0) return null;
  return (
    <section>
      <button
        type="button"
        class="hstack full soft small strong picker-head"
        aria-expanded={!shut.value}
        onClick={() => (shut.value = !shut.value)}
      >
        <ChevronDownIcon size={12} />
        {title}
        <span class="quiet">{columns.length.toLocaleString("en-US")}</span>
      </button>
      {shut.value
        ? null
        : columns.slice(0, MOST).map((column) => (
            <div key={column.key} class="apart option picker-item" title={visibleText(column.key)}>
              <Checkbox
                checked={shown.has(column.key)}
                label={visibleText(column.label)}
                visible
                onChange={() => onToggle(column.key)}
              />
              {column.distinct > 1 && column.source === "config" ? (
                <span class="quiet">{column.distinct} values</span>
              ) : null}
            </div>
          ))}
    </section>
  );
}

/** The shown columns in their order, moved with buttons so that the keyboard can do it too. */
function Order() {
  const keys = shownKeys.value;
  return (
    <div class="picker-order" role="list" aria-label="Shown columns, in order">
      <h3>Shown</h3>
      {keys.map((key, at) => {
        const label = visibleText(columnOf(key).label);
        return (
          <div key={key} class="apart option picker-item" role="listitem">
            <span class="isolate ellipsis">{label}</span>
            <span class="spring" />
            <IconButton
              label={`Move ${label} left`}
              disabled={at === 0}
              onClick={() => moveColumn(key, keys[at - 1] ?? null)}
            >
              <ArrowUpIcon size={12} />
            </IconButton>
            <IconButton
              label={`Move ${label} right`}
              disabled={at === keys.length - 1}
              onClick={() => moveColumn(key, keys[at + 2] ?? null)}
            >
              <ArrowDownIcon size={12} />
            </IconButton>
            <IconButton label={`Hide ${label}`} onClick={() => setColumns(keys.filter((other) => other !== key))}>
              <CloseIcon size={12} />
            </IconButton>
          </div>
        );
      })}
    </div>
  );
}
