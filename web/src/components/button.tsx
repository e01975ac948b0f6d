import type { ComponentChildren, JSX } from "preact";

type Native = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, "icon">;

export interface ButtonProps extends Native {
  kind?: "plain" | "primary" | "quiet" | "danger";
  children?: ComponentChildren;
}

export function Button({ kind = "plain", class: extra, children, ...rest }: ButtonProps) {
  return (
    <button type="button" class={`button button-${kind} ${extra ?? ""}`} {...rest}>
      {children}
    </button>
  );
}

export interface IconButtonProps extends Native {
  /** Said by screen readers and shown as the tooltip: an icon alone is a riddle. */
  label: string;
  pressed?: boolean | undefined;
  children?: ComponentChildren;
}

export function IconButton({ label, pressed, class: extra, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${extra ?? ""}`}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      {...rest}
    >
      {children}
    </button>
  );
}
