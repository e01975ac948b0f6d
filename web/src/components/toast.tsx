import { signal } from "@preact/signals";
import type { Severity } from "../lib/schema";
import { IconButton } from "./button";
import { CloseIcon } from "./icons";

interface Toast {
  id: number;
  text: string;
  title?: string | undefined;
  level: Severity;
  href?: string | undefined;
}

const toasts = signal<Toast[]>([]);
let last = 0;

/** A short message in the corner, with a place to go for more. Errors stay until closed; the rest leave by themselves. */
export function toast(text: string, level: Severity = "info", title?: string, href?: string): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, level, title, href }];
  if (level !== "error") setTimeout(() => close(id), level === "warning" ? 8000 : 3500);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class="toast" data-level={one.level}>
          <div class="toast-body">
            {one.title ? (
              <strong class="isolate">{one.href ? <a href={one.href}>{one.title}</a> : one.title}</strong>
            ) : null}
            <span class="isolate">{one.text}</span>
          </div>
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
