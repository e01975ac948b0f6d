import type { ComponentChildren, JSX, Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface CheckboxProps {
  checked: boolean;
  /** Some but not all of what it stands for. */
  mixed?: boolean;
  label: string;
  /** Show the label beside the box; otherwise only screen readers have it. */
  visible?: boolean;
  onChange(checked: boolean, event: MouseEvent): void;
}

export function Checkbox({ checked, mixed = false, label, visible = false, onChange }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = mixed && !checked;
  }, [mixed, checked]);
  return (
    <label class="checkbox">
      <input
        ref={box}
        type="checkbox"
        checked={checked}
        aria-label={visible ? undefined : label}
        onClick={(event) => onChange(event.currentTarget.checked, event)}
      />
      {visible ? <span>{label}</span> : null}
    </label>
  );
}

export interface ToggleProps {
  checked: boolean;
  label: ComponentChildren;
  onChange(checked: boolean): void;
}

export function Toggle({ checked, label, onChange }: ToggleProps) {
  return (
    <label class="toggle">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="toggle-track" aria-hidden="true" />
      <span>{label}</span>
    </label>
  );
}

export interface SliderProps {
  value: number;
  min: number;
  max: number;
  step: number;
  label: string;
  onInput(value: number): void;
}

export function Slider({ value, min, max, step, label, onInput }: SliderProps) {
  return (
    <input
      class="slider"
      type="range"
      aria-label={label}
      title={label}
      value={value}
      min={min}
      max={max}
      step={step}
      onInput={(event) => onInput(Number(event.currentTarget.value))}
    />
  );
}

export interface TextInputProps extends Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "onInput" | "icon" | "label"> {
  label: string;
  icon?: ComponentChildren;
  bad?: boolean;
  inputRef?: Ref<HTMLInputElement>;
  /** `picked`: from the list that the browser offers, as a whole. */
  onInput(value: string, picked: boolean): void;
}

export function TextInput({ label, icon, bad = false, inputRef, onInput, class: extra, ...rest }: TextInputProps) {
  return (
    <span class={`text-input ${extra ?? ""}`} data-bad={bad || undefined}>
      {icon}
      <input
        ref={inputRef ?? null}
        type="text"
        aria-label={label}
        aria-invalid={bad || undefined}
        autocomplete="off"
        spellcheck={false}
        {...rest}
        onInput={(event) => onInput(event.currentTarget.value, wasPicked(event))}
      />
    </span>
  );
}

const wasPicked = (event: Event): boolean =>
  !(event instanceof InputEvent) || event.inputType === "insertReplacementText" || event.inputType === "";

export interface SelectProps<T extends string> {
  value: T;
  label: string;
  options: readonly { value: T; label: string; disabled?: boolean }[];
  onChange(value: T): void;
}

export function Select<T extends string>({ value, label, options, onChange }: SelectProps<T>) {
  return (
    <select
      class="select"
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
