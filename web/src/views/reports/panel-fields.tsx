/** The lines of a panel's form: each kind of option with the control that suits it. */

import { useId, useState } from "preact/hooks";
import { Select, Slider, TextInput, Toggle } from "../../components";
import { CloseIcon } from "../../components/icons";
import {
  amountAt,
  SMOOTHINGS,
  sliderOf,
  smoothCodec,
  smoothOf,
  NO_SMOOTHING,
  type SmoothingKind,
} from "../../lib/chart-settings";
import { visibleText } from "../../lib/format";
import type { PanelInfo } from "../../lib/schema";
import type { Field } from "../../panels/panel";

export interface FieldRowProps {
  field: Field;
  value: unknown;
  logged: readonly PanelInfo[];
  onValue(value: unknown): void;
}

const MOST_OFFERED = 300;

/** What can be offered for a field, from what the runs have logged. */
export function offered(type: Field["type"], logged: readonly PanelInfo[]): string[] {
  const keys = (fits: (info: PanelInfo) => boolean) => logged.filter(fits).map((info) => info.key);
  switch (type) {
    case "metric":
    case "metrics":
      return keys((info) => info.kind === "scalar");
    case "histogram":
      return keys((info) => info.kind === "histogram");
    case "media":
      return keys((info) => info.kind !== "scalar" && info.kind !== "histogram");
    case "column":
    case "columns":
      return [
        "status",
        "created",
        "duration",
        ...keys((info) => info.kind === "scalar").flatMap((key) => [`${key}.last`, `${key}.min`, `${key}.max`]),
      ];
    default:
      return [];
  }
}

export function FieldRow({ field, value, logged, onValue }: FieldRowProps) {
  if (field.type === "flag") {
    return (
      <div class="panel-form-row">
        <span />
        <Toggle label={field.label} checked={value === true} onChange={(on) => onValue(on || undefined)} />
      </div>
    );
  }
  return (
    <div class="panel-form-row">
      <span>
        {field.label}
        {field.required ? <span class="visually-hidden"> (needed)</span> : null}
      </span>
      <span class="hstack wraps gap-2 panel-form-value">
        <Control field={field} value={value} logged={logged} onValue={onValue} />
      </span>
    </div>
  );
}

function Control({ field, value, logged, onValue }: FieldRowProps) {
  const { label, hint } = field;
  const text = value === undefined || value === null ? "" : String(value);
  switch (field.type) {
    case "choice":
      return (
        <Select
          label={label}
          value={text}
          options={field.choices ?? []}
          onChange={(next) => onValue(next || undefined)}
        />
      );
    case "smoothing":
      return <Smoothing value={text} onValue={onValue} />;
    case "number":
      return (
        <TextInput
          label={label}
          inputMode="decimal"
          placeholder={hint ?? ""}
          value={text}
          bad={text !== "" && !Number.isFinite(Number(text))}
          onInput={(next) =>
            onValue(next.trim() === "" ? undefined : Number.isFinite(Number(next)) ? Number(next) : next)
          }
        />
      );
    case "long":
      return (
        <textarea
          class="px-2 py-2 raised panel-form-long"
          aria-label={label}
          placeholder={hint}
          rows={Math.min(12, Math.max(4, text.split("\n").length))}
          value={text}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      );
    case "metrics":
    case "columns":
      return <Several field={field} value={value} options={offered(field.type, logged)} onValue={onValue} />;
    default:
      return (
        <Completed
          label={label}
          hint={hint ?? ""}
          value={text}
          options={offered(field.type, logged)}
          onValue={(next) => onValue(next || undefined)}
        />
      );
  }
}

interface CompletedProps {
  label: string;
  hint: string;
  value: string;
  options: readonly string[];
  onValue(value: string): void;
  onEnter?: (value: string) => void;
}

/** A text field that offers names; any other can be typed. */
function Completed({ label, hint, value, options, onValue, onEnter }: CompletedProps) {
  const list = useId();
  return (
    <>
      <TextInput
        label={label}
        list={list}
        placeholder={hint || (options.length ? "start typing a name" : "")}
        value={value}
        // A name that is only typed may be the beginning of a longer one.
        onInput={(next, picked) => (onEnter && picked && options.includes(next) ? onEnter(next) : onValue(next))}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !onEnter) return;
          event.preventDefault(); // also with nothing typed: a second Enter would send the form
          if (value.trim()) onEnter(value.trim());
        }}
        onBlur={() => onEnter && value.trim() && onEnter(value.trim())}
      />
      <datalist id={list}>
        {options.slice(0, MOST_OFFERED).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}

/** Several names as chips. One alone is written as plain text, as people would. */
function Several({
  field,
  value,
  options,
  onValue,
}: {
  field: Field;
  value: unknown;
  options: readonly string[];
  onValue(value: unknown): void;
}) {
  const columns = field.type === "columns";
  const [typed, setTyped] = useState("");
  const [names, setNames] = useState<readonly string[]>(() =>
    Array.isArray(value)
      ? value.map(String)
      : typeof value === "string" && value
        ? columns
          ? value.split(",").map((one) => one.trim())
          : [value]
        : [],
  );
  // What is being typed counts already: nobody should have to know that a name wants an Enter.
  const put = (chips: readonly string[], half: string) => {
    setNames(chips);
    setTyped(half);
    const all = half.trim() && !chips.includes(half.trim()) ? [...chips, half.trim()] : chips;
    onValue(
      all.length === 0
        ? undefined
        : all.length === 1
          ? all[0]
          : columns && all.every((one) => !one.includes(","))
            ? all.join(", ")
            : all,
    );
  };
  const add = (name: string) => put(names.includes(name) ? names : [...names, name], "");
  return (
    <span class="hstack wraps gap-1 fill names">
      {names.map((name) => (
        <span key={name} class="tag name-tag">
          <span class="isolate">{visibleText(name)}</span>
          <button
            type="button"
            aria-label={`Remove ${visibleText(name)}`}
            onClick={() =>
              put(
                names.filter((other) => other !== name),
                typed,
              )
            }
          >
            <CloseIcon size={10} />
          </button>
        </span>
      ))}
      <Completed
        label={field.label}
        hint={names.length ? "add another" : (field.hint ?? "")}
        value={typed}
        options={options.filter((one) => !names.includes(one))}
        onValue={(half) => put(names, half)}
        onEnter={add}
      />
    </span>
  );
}

function Smoothing({ value, onValue }: { value: string; onValue(value: unknown): void }) {
  const now = smoothCodec.read(value) ?? NO_SMOOTHING;
  const kinds = (Object.keys(SMOOTHINGS) as SmoothingKind[]).map((kind) => ({
    value: kind,
    label: SMOOTHINGS[kind].label,
  }));
  const put = (kind: SmoothingKind, amount: number) => onValue(smoothCodec.write(smoothOf(kind, amount)) || undefined);
  return (
    <>
      <Select
        label="Smoothing"
        value={now.kind}
        options={kinds}
        onChange={(kind) => put(kind, SMOOTHINGS[kind].start)}
      />
      {now.kind === "none" ? null : (
        <>
          <Slider
            label={`Smoothing, ${SMOOTHINGS[now.kind].hint}`}
            min={0}
            max={1}
            step={0.005}
            value={sliderOf(now)}
            onInput={(slider) => put(now.kind, amountAt(now.kind, slider))}
          />
          <output>{now.amount}</output>
        </>
      )}
    </>
  );
}
