/**
 * Keyboard shortcuts: one listener for the page. Nothing fires while a person types into a field, save `Mod+k`.
 * `Mod` is Ctrl, or the command key of a Mac: `{ "Mod+k": open, "Mod+Shift+z": again }`.
 */

import { useEffect } from "preact/hooks";

type Handler = (event: KeyboardEvent) => void;

const held: Record<string, Handler>[] = [];
let prefix = "";
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type);
}

/** `useKeys({ j: down, "g r": toRuns })` while a component is on the page. The newest handler wins. */
export function useKeys(keys: Record<string, Handler>): void {
  useEffect(() => {
    held.push(keys);
    return () => {
      held.splice(held.indexOf(keys), 1);
    };
  });
}

function find(name: string): Handler | undefined {
  for (let at = held.length - 1; at >= 0; at--) {
    const handler = held[at]?.[name];
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
  const handler = find(prefix ? `${prefix} ${name}` : name);
  const starts =
    !prefix && !handler && held.some((keys) => Object.keys(keys).some((key) => key.startsWith(`${name} `)));
  clearTimeout(prefixTimer);
  prefix = starts ? name : "";
  if (starts) prefixTimer = setTimeout(() => (prefix = ""), 900);
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
