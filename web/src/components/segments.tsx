/** A few choices side by side, of which one is taken. */

import type { ComponentChildren } from "preact";

export interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: ComponentChildren; about?: string; disabled?: boolean }[];
  onChange(value: T): void;
  /** Pills wrap onto several lines: for many choices, or long ones. */
  look?: "segments" | "pills";
}

export function Segments<T extends string>({ label, value, options, onChange, look = "segments" }: SegmentsProps<T>) {
  const move = (event: KeyboardEvent) => {
    const by =
      event.key === "ArrowRight" || event.key === "ArrowDown"
        ? 1
        : event.key === "ArrowLeft" || event.key === "ArrowUp"
          ? -1
          : 0;
    if (by === 0) return;
    event.preventDefault();
    const open = options.filter((option) => !option.disabled);
    const at = open.findIndex((option) => option.value === value);
    const next = open[(at + by + open.length) % open.length];
    if (!next) return;
    onChange(next.value);
    (event.currentTarget as HTMLElement)
      .querySelector<HTMLElement>(`[data-value="${CSS.escape(next.value)}"]`)
      ?.focus();
  };
  return (
    <span class={look} role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          data-value={option.value}
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          title={option.about}
          disabled={option.disabled}
          class={look === "pills" ? "pill" : undefined}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </span>
  );
}
