import { signal } from "@preact/signals";
import type { Severity } from "../lib/schema";
import { IconButton } from "./button";
import { CloseIcon } from "./icons";

export interface ToastAction {
  label: string;
  onPick(): void;
}

interface Toast {
  id: number;
  text: string;
  title?: string | undefined;
  level: Severity;
  href?: string | undefined;
  action?: ToastAction | undefined;
  /** When it leaves, in milliseconds of `performance.now()`; null stays until closed. */
  leaves: number | null;
}

const MOST = 4;
const toasts = signal<Toast[]>([]);
let last = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let held = false;

/**
 * A short message in the corner, with a place to go for more or something to do about it.
 * Errors stay until closed; the rest leave by themselves, but not from under the mouse or the keyboard.
 */
export function toast(
  text: string,
  level: Severity = "info",
  title?: string,
  href?: string,
  action?: ToastAction,
): void {
  const stays = action ? 10_000 : level === "warning" ? 8000 : 3500;
  const leaves = level === "error" ? null : performance.now() + stays;
  toasts.value = [...toasts.value.slice(1 - MOST), { id: ++last, text, level, title, href, action, leaves }];
  wait();
}

/** One timer for all of them: the next one to leave. */
function wait(): void {
  clearTimeout(timer);
  const next = Math.min(...toasts.peek().map((one) => one.leaves ?? Infinity));
  if (held || next === Infinity) return;
  timer = setTimeout(
    () => {
      const now = performance.now();
      toasts.value = toasts.peek().filter((one) => one.leaves === null || one.leaves > now);
      wait();
    },
    Math.max(0, next - performance.now()) + 10,
  );
}

function hold(on: boolean): void {
  held = on;
  if (!on)
    for (const one of toasts.peek())
      if (one.leaves !== null) one.leaves = Math.max(one.leaves, performance.now() + 1500);
  wait();
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
  hold(false);
}

/** Closes messages that lead to a place where all of them are listed. */
export function closeLinked(): void {
  toasts.value = toasts.peek().filter((one) => one.href === undefined);
}

export function Toasts() {
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      {toasts.value.map((one) => (
        <div key={one.id} class="toast" data-level={one.level}>
          <div class="toast-body">
            {one.title ? (
              <strong class="isolate">
                {one.href ? (
                  <a href={one.href} onClick={() => close(one.id)}>
                    {one.title}
                  </a>
                ) : (
                  one.title
                )}
              </strong>
            ) : null}
            <span class="isolate">{one.text}</span>
          </div>
          {one.action ? (
            <button
              type="button"
              class="button button-quiet toast-action"
              onClick={() => {
                close(one.id);
                one.action?.onPick();
              }}
            >
              {one.action.label}
            </button>
          ) : null}
          <IconButton label="Close" onClick={() => close(one.id)}>
            <CloseIcon size={12} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}

export async function copyText(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    toast("The browser did not allow copying; select the text and copy it by hand.", "warning");
  }
}
