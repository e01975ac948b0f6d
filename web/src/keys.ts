/**
 * Keyboard shortcuts: one listener for the page. Nothing fires while a person types into a field, save `Mod+k`.
 * `Mod` is Ctrl, or the command key of a Mac: `{ "Mod+k": open, "Mod+Shift+z": again }`.
 */

import { useLayoutEffect, useRef } from "preact/hooks";

type Handler = (event: KeyboardEvent) => void;

interface Held {
  order: number;
  keys: Record<string, Handler>;
}

/** How long the first key of two waits for the second. */
const PREFIX_MS = 1500;

/** By order, the one that wins last. */
const held: Held[] = [];
let made = 0;
let prefix = "";
let prefixAt = 0;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type);
}

/**
 * `useKeys({ j: down, "g r": toRuns })` while a component is on the page. What came later, or lies deeper, wins, and
 * goes on winning when what lies around it is drawn anew. The keys are there as soon as the component can be seen.
 */
export function useKeys(keys: Record<string, Handler>): void {
  const order = useRef(0);
  order.current ||= ++made;
  useLayoutEffect(() => {
    const mine: Held = { order: order.current, keys };
    held.splice(held.filter((one) => one.order < mine.order).length, 0, mine);
    return () => {
      held.splice(held.indexOf(mine), 1);
    };
  });
}

function find(name: string): Handler | undefined {
  for (let at = held.length - 1; at >= 0; at--) {
    const handler = held[at]?.keys[name];
    if (handler) return handler;
  }
  return undefined;
}

/** Works while somebody types, because no field has a use for it. */
const WHILE_TYPING: ReadonlySet<string> = new Set(["Mod+k"]);

function withModifier(event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey === event.metaKey) return;
  const name = `Mod+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}`;
  if (isTyping(event.target) && !WHILE_TYPING.has(name)) return;
  const handler = find(name);
  if (!handler || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  handler(event);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey) return withModifier(event);
  if (event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const name = event.key === " " ? "Space" : event.key;
  if (event.timeStamp - prefixAt > PREFIX_MS) prefix = ""; // when it was pressed, not when a busy page hears of it
  const handler = find(prefix ? `${prefix} ${name}` : name);
  const starts =
    !prefix && !handler && held.some(({ keys }) => Object.keys(keys).some((key) => key.startsWith(`${name} `)));
  prefix = starts ? name : "";
  prefixAt = event.timeStamp;
  if (!handler) return;
  // A button under the focus keeps its own Enter and Space.
  if (
    (name === "Enter" || name === "Space") &&
    event.target instanceof HTMLElement &&
    event.target.closest("button, a, summary, label")
  )
    return;
  event.preventDefault();
  handler(event);
});
