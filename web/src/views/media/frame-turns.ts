/**
 * Frames start one after the other: each is a page with five megabytes of script, and together they would stand still.
 */

import { useEffect, useRef, useState } from "preact/hooks";

const AT_ONCE = 1;
const waiting: (() => void)[] = [];
let starting = 0;

function next(): void {
  while (starting < AT_ONCE && waiting.length > 0) {
    starting++;
    waiting.shift()?.();
  }
}

/** `mine` once it is this one's turn; `pass` when it has started, or failed to. */
export function useTurn(): { mine: boolean; pass(): void } {
  const [mine, setMine] = useState(false);
  const held = useRef(false);
  const pass = () => {
    if (!held.current) return;
    held.current = false;
    starting--;
    next();
  };
  useEffect(() => {
    const take = () => {
      held.current = true;
      setMine(true);
    };
    waiting.push(take);
    next();
    return () => {
      const at = waiting.indexOf(take);
      if (at >= 0) waiting.splice(at, 1);
      pass();
    };
  }, []);
  return { mine, pass };
}
