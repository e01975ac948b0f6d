import type { ComponentChildren } from "preact";

/** A key as it is printed on the keyboard. */
export function Key({ children }: { children?: ComponentChildren }) {
  return <kbd class="key">{children}</kbd>;
}
