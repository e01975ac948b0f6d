/** One observer for all panels: only what is on the screen, or nearly, fetches and draws. */

import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export const MARGIN_PX = 300;
const watched = new WeakMap<Element, (on: boolean) => void>();
const observers = new WeakMap<Element, IntersectionObserver>();

/** The margin counts from the root only, so the root must be the element that scrolls. */
const rootOf = (element: Element): Element =>
  element.closest(".charts-scroll, .report-area") ?? document.documentElement;

/** What the observer would say, a frame or two before it does: the first charts are on the screen that much sooner. */
function isNear(element: Element): boolean {
  const root = rootOf(element);
  const { top, bottom, height } = element.getBoundingClientRect();
  const from = root === document.documentElement ? 0 : root.getBoundingClientRect().top;
  return height > 0 && bottom > from - MARGIN_PX && top < from + root.clientHeight + MARGIN_PX;
}

function observerOf(element: Element): IntersectionObserver {
  const root = rootOf(element);
  let observer = observers.get(root);
  if (!observer) {
    observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) watched.get(entry.target)?.(entry.isIntersecting);
      },
      { root: root === document.documentElement ? null : root, rootMargin: `${MARGIN_PX}px 0px` },
    );
    observers.set(root, observer);
  }
  return observer;
}

/** Draw what is out of sight too: the page is about to be printed. */
export const everything = signal(false);

/** True while the element is on the screen. */
export function useVisible(ref: RefObject<HTMLElement>): boolean {
  const [visible, setVisible] = useState(false);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    if (isNear(element)) setVisible(true);
    watched.set(element, setVisible);
    const observer = observerOf(element);
    observer.observe(element);
    return () => {
      observer.unobserve(element);
      watched.delete(element);
    };
  }, [ref]);
  return visible || everything.value;
}

/** The element's size in whole pixels, followed as it changes. */
export function useSize(ref: RefObject<HTMLElement>): { width: number; height: number } | null {
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const tell = (width: number, height: number): void => {
      if (width > 0 && height > 0)
        setSize((old) => (old?.width === width && old.height === height ? old : { width, height }));
    };
    tell(element.clientWidth, element.clientHeight); // the observer would come a frame later
    const watch = new ResizeObserver(([entry]) =>
      tell(Math.round(entry?.contentRect.width ?? 0), Math.round(entry?.contentRect.height ?? 0)),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, [ref]);
  return size;
}
