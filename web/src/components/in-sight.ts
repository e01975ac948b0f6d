/** Keeps the chosen one of a row of tabs or chips in sight where the row is wider than the page. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

export function useChosenInSight(row: RefObject<HTMLElement>, chosen: string, role: "tab" | "radio" = "tab"): void {
  useEffect(() => {
    const one = row.current?.querySelector<HTMLElement>(
      role === "tab" ? '[aria-selected="true"]' : '[aria-checked="true"]',
    );
    // Not scrollIntoView: it would scroll the page's frames too.
    if (!one || !row.current) return;
    const left = one.getBoundingClientRect().left - row.current.getBoundingClientRect().left + row.current.scrollLeft;
    row.current.scrollLeft = left - (row.current.clientWidth - one.offsetWidth) / 2;
  }, [chosen]);
}
