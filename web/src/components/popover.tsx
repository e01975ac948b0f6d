import type { ComponentChildren } from "preact";
import { createPortal } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface PopoverProps {
  /** The element it hangs from. */
  anchor: HTMLElement | null;
  onClose(): void;
  label: string;
  align?: "start" | "end";
  class?: string;
  children?: ComponentChildren;
}

/** A panel below (or, without room, above) its anchor. Esc, a click elsewhere or Tab out of it closes it. */
export function Popover({ anchor, onClose, label, align = "start", class: extra = "", children }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const settle = () => anchor && box.current && settleNear(anchor, box.current, align);
    settle();
    addEventListener("resize", settle);
    return () => removeEventListener("resize", settle);
  });
  useEffect(() => {
    const outside = (event: PointerEvent) => {
      const target = event.target as Node;
      if (!box.current?.contains(target) && !anchor?.contains(target)) onClose();
    };
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      onClose();
      anchor?.focus();
    };
    addEventListener("pointerdown", outside, true);
    addEventListener("keydown", onEscape, true);
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("keydown", onEscape, true);
    };
  }, [anchor, onClose]);
  return createPortal(
    <div ref={box} class={`popover ${extra}`} role="dialog" aria-label={label}>
      {children}
    </div>,
    document.body,
  );
}

function settleNear(anchor: HTMLElement, box: HTMLElement, align: "start" | "end"): void {
  const around = anchor.getBoundingClientRect();
  const gap = 4;
  const edge = 8;
  const below = innerHeight - around.bottom - gap - edge;
  const above = around.top - gap - edge;
  const up = box.offsetHeight > below && above > below;
  box.style.maxHeight = `${Math.max(120, up ? above : below)}px`;
  const left = align === "end" ? around.right - box.offsetWidth : around.left;
  box.style.left = `${Math.max(edge, Math.min(left, innerWidth - box.offsetWidth - edge))}px`;
  box.style.top = up ? `${Math.max(edge, around.top - gap - box.offsetHeight)}px` : `${around.bottom + gap}px`;
}

export interface MenuItem {
  key: string;
  label: ComponentChildren;
  icon?: ComponentChildren;
  hint?: string;
  checked?: boolean;
  onPick(): void;
}

export interface MenuProps {
  label: string;
  /** The button's content. */
  button: ComponentChildren;
  buttonClass?: string;
  items: readonly MenuItem[];
  align?: "start" | "end";
}

/** A button that opens a list of choices; arrows move, Enter picks, Esc closes. */
export function Menu({ label, button, buttonClass = "button button-quiet", items, align = "start" }: MenuProps) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class={buttonClass}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open ? (
        <Popover anchor={anchor.current} label={label} align={align} onClose={() => setOpen(false)}>
          <MenuList items={items} onPicked={() => (setOpen(false), anchor.current?.focus())} />
        </Popover>
      ) : null}
    </>
  );
}

function MenuList({ items, onPicked }: { items: readonly MenuItem[]; onPicked(): void }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>('[aria-checked="true"], button')?.focus(), []);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  };
  return (
    <div ref={list} class="menu" role="menu" onKeyDown={move}>
      {items.map((item) => (
        <button
          key={item.key}
          type="button"
          class="menu-item"
          role={item.checked === undefined ? "menuitem" : "menuitemradio"}
          aria-checked={item.checked}
          onClick={() => {
            item.onPick();
            onPicked();
          }}
        >
          <span class="menu-icon">{item.icon}</span>
          <span class="menu-label">{item.label}</span>
          {item.hint ? <span class="menu-hint">{item.hint}</span> : null}
        </button>
      ))}
    </div>
  );
}
