import type { ComponentChildren } from "preact";

/** Words that appear over an element on hover and on keyboard focus, drawn by CSS. */
export function Tooltip({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <span class="tooltip" data-tip={text}>
      {children}
    </span>
  );
}

/** A key as it is printed on the keyboard. */
export function Key({ children }: { children?: ComponentChildren }) {
  return <kbd class="key">{children}</kbd>;
}
