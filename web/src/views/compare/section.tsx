/** A part of the page: it has an anchor, folds, and is filled when it first comes near the screen. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { ChevronDownIcon, ChevronRightIcon } from "../../components/icons";
import { useVisible } from "../charts/visible";
import type { Answer } from "./answer";
import { shut } from "./state";

export interface SectionProps {
  id: string;
  title: string;
  /** What the section answers, in a few words. */
  about?: string;
  aside?: ComponentChildren;
  children: () => ComponentChildren;
}

export function Section({ id, title, about, aside, children }: SectionProps) {
  const frame = useRef<HTMLElement>(null);
  const seen = useVisible(frame);
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    if (seen) setFilled(true);
  }, [seen]);
  const folded = shut.value.includes(id);
  return (
    <section
      ref={frame}
      id={`compare-${id}`}
      class="compare-section"
      aria-labelledby={`compare-${id}-title`}
      data-filled={filled || undefined}
    >
      <header class="hstack wraps gap-3 compare-section-head">
        <button
          type="button"
          class="inline quiet compare-fold"
          aria-expanded={!folded}
          aria-controls={`compare-${id}-body`}
          onClick={() => (shut.value = folded ? shut.value.filter((other) => other !== id) : [...shut.value, id])}
        >
          {folded ? <ChevronRightIcon size={14} /> : <ChevronDownIcon size={14} />}
          <h2 class="one-line" id={`compare-${id}-title`}>
            {title}
          </h2>
        </button>
        {about ? <span class="small quiet">{about}</span> : null}
        <span class="spring" />
        {folded ? null : aside}
      </header>
      <div id={`compare-${id}-body`} class="vstack gap-3 under compare-body" hidden={folded}>
        {filled && !folded ? children() : null}
      </div>
    </section>
  );
}

const SETTLES_MS = 2500;
let settled = (): void => undefined;

/** Goes to a section without changing the address's page, and stays there while those above it are being filled. */
export function goTo(id: string): void {
  if (shut.peek().includes(id)) shut.value = shut.peek().filter((other) => other !== id);
  const section = document.getElementById(`compare-${id}`);
  const scroller = section?.parentElement;
  if (!section || !scroller) return;
  settled();
  const align = () => section.scrollIntoView({ block: "start" });
  const watch = new ResizeObserver(align);
  for (const one of scroller.children) watch.observe(one);
  const moves = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
  settled = () => {
    watch.disconnect();
    for (const move of moves) scroller.removeEventListener(move, settled);
  };
  for (const move of moves) scroller.addEventListener(move, settled, { passive: true });
  setTimeout(settled, SETTLES_MS);
  align();
  section.querySelector<HTMLElement>(".compare-fold")?.focus({ preventScroll: true });
}

/** What stands in place of an answer that is not there: why, or that it comes. Null when it is. */
export function Waiting<T>({ answer, height = 120 }: { answer: Answer<T>; height?: number }) {
  if (answer.fault) return <ErrorState error={answer.fault} onRetry={answer.again} />;
  if (answer.data === null) return <Skeleton height={height} />;
  return null;
}
