import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button";
import { CloseIcon } from "./icons";

export interface DialogProps {
  title: string;
  onClose(): void;
  wide?: boolean;
  children?: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus inside it, and Esc closes it. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    // Before the next paint: an Esc that is pressed as soon as the content shows must find an open dialog.
    const element = box.current;
    element?.showModal();
    // The browser takes the first button, which is the one that closes.
    if (element?.querySelector(".dialog-head")?.contains(document.activeElement))
      element.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea, [data-first])")?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => (event.preventDefault(), onClose())}
      onClick={(event) => event.target === box.current && onClose()}
    >
      <header class="hstack gap-3 dialog-head">
        <h2>{title}</h2>
        <IconButton label="Close" onClick={onClose}>
          <CloseIcon />
        </IconButton>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
