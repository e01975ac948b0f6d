/** What runs are grouped by: any config key, several of them, the run's own group, or everything but the seed. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Checkbox, Popover, TextInput } from "../../components";
import { GroupIcon, SearchIcon } from "../../components/icons";
import { call } from "../../lib/api";
import { byWords, EVERYTHING, type GroupKey, groupKeys } from "../../lib/compare-by";
import { visibleText } from "../../lib/format";
import "../../style/compare-by.css";

export interface ByPickerProps {
  value: readonly string[];
  onChange(by: string[]): void;
  align?: "start" | "end";
}

const MOST = 100;

export function ByPicker({ value, onChange, align = "end" }: ByPickerProps) {
  const open = useSignal(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="button by-button"
        data-on={value.length > 0 || undefined}
        title="Draw the runs of a group as one line, with their spread"
        aria-haspopup="dialog"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <GroupIcon size={14} />
        {value.length === 0 ? "Group" : <span class="isolate ellipsis group-by">by {visibleText(byWords(value))}</span>}
      </button>
      {open.value ? (
        <Popover
          anchor={anchor.current}
          label="Group runs"
          align={align}
          class="by-popover"
          onClose={() => (open.value = false)}
        >
          <Choices value={value} onChange={onChange} />
        </Popover>
      ) : null}
    </>
  );
}

function Choices({ value, onChange }: ByPickerProps) {
  const search = useSignal("");
  const offered = useSignal<readonly GroupKey[] | null>(null);
  const fault = useSignal("");
  useEffect(() => {
    call("POST /api/columns", { query: "" }).then(
      ({ columns }) => (offered.value = groupKeys(columns)),
      (error: unknown) => (fault.value = error instanceof Error ? error.message : String(error)),
    );
  }, []);
  const wanted = search.value.trim().toLowerCase();
  const fits = (offered.value ?? []).filter((one) => one.label.toLowerCase().includes(wanted));
  const toggle = (key: string) => {
    if (key === EVERYTHING) return onChange(value.includes(key) ? [] : [EVERYTHING]);
    const rest = value.filter((other) => other !== EVERYTHING);
    onChange(rest.includes(key) ? rest.filter((other) => other !== key) : [...rest, key]);
  };
  return (
    <>
      <div class="px-2 py-2 under picker-search">
        <TextInput
          label="Find a key"
          placeholder="Group by…"
          icon={<SearchIcon size={14} />}
          value={search.value}
          inputRef={(input) => input?.focus()}
          onInput={(text) => (search.value = text)}
        />
      </div>
      {fault.value ? (
        <p class="none" role="alert">
          {fault.value}
        </p>
      ) : null}
      <div class="vstack by-list" role="group" aria-label="Keys">
        {value.length > 0 ? (
          <button type="button" class="menu-item" onClick={() => onChange([])}>
            No groups
          </button>
        ) : null}
        {"everything but the seed".includes(wanted) ? (
          <Choice
            label="Everything but the seed"
            hint="what is left is chance"
            on={value.includes(EVERYTHING)}
            onToggle={() => toggle(EVERYTHING)}
          />
        ) : null}
        {fits.slice(0, MOST).map((one) => (
          <Choice
            key={one.key}
            label={visibleText(one.label)}
            hint={one.hint}
            on={value.includes(one.key)}
            onToggle={() => toggle(one.key)}
          />
        ))}
        {offered.value && fits.length === 0 ? (
          <p class="none">No key has “{visibleText(search.value)}” in its name.</p>
        ) : null}
        {fits.length > MOST ? <p class="none">{fits.length - MOST} more: type to find them.</p> : null}
      </div>
    </>
  );
}

function Choice({ label, hint, on, onToggle }: { label: string; hint: string; on: boolean; onToggle(): void }) {
  return (
    <div class="option by-choice">
      <Checkbox checked={on} label={label} visible onChange={onToggle} />
      <span class="menu-hint">{hint}</span>
    </div>
  );
}
