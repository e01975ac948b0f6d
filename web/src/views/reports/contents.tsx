/** The headings of a report as a list of links; where one reads now is marked. */

import { useEffect, useState } from "preact/hooks";
import { visibleText } from "../../lib/format";
import type { Heading } from "../../lib/report-blocks";

export interface ContentsProps {
  headings: readonly Heading[];
  /** The element that scrolls; the window when null. */
  scroller: HTMLElement | null;
}

const DEEPEST = 3;

/** Goes to a heading without touching the address, which belongs to the app's pages. */
function goToHeading(id: string): void {
  const target = document.getElementById(`at-${id}`);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target?.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
  target?.focus({ preventScroll: true });
}

export function Contents({ headings, scroller }: ContentsProps) {
  const shown = headings.filter((one) => one.level <= DEEPEST);
  const here = useReading(shown, scroller);
  if (shown.length < 2) return null;
  const top = Math.min(...shown.map((one) => one.level));
  return (
    <nav class="report-contents" aria-label="Contents">
      <p>Contents</p>
      <ol>
        {shown.map((one) => (
          <li key={one.id} data-level={one.level - top}>
            <a
              class="isolate"
              href={`#at-${one.id}`}
              aria-current={one.id === here ? "location" : undefined}
              onClick={(event) => (event.preventDefault(), goToHeading(one.id))}
            >
              {visibleText(one.text)}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The last heading above the upper part of the screen. */
function useReading(headings: readonly Heading[], scroller: HTMLElement | null): string {
  const [here, setHere] = useState("");
  const ids = headings.map((one) => one.id).join("\n");
  useEffect(() => {
    let waiting = 0;
    const look = () => {
      waiting = 0;
      const edge = (scroller?.getBoundingClientRect().top ?? 0) + 120;
      const passed = ids
        .split("\n")
        .filter(
          (id) => (document.getElementById(`at-${id}`)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY) < edge,
        );
      setHere(passed.at(-1) ?? ids.split("\n")[0] ?? "");
    };
    const soon = () => (waiting ||= requestAnimationFrame(look));
    const target: HTMLElement | Window = scroller ?? window;
    target.addEventListener("scroll", soon, { passive: true });
    look();
    return () => {
      target.removeEventListener("scroll", soon);
      cancelAnimationFrame(waiting);
    };
  }, [ids, scroller]);
  return here;
}
