/** Printing a report: everything is drawn, in light colours. And links that lead nowhere are none. */

import { isDark, themeChoice } from "../theme";
import { everything } from "../views/charts/visible";

/** Panels out of sight are drawn too when nothing else is to be done, so that printing finds them drawn. */
const DRAW_ALL_AFTER_MS = 1500;

function unfold(): void {
  for (const part of document.querySelectorAll<HTMLDetailsElement>(".report details")) part.open = true;
}

/** Makes the page ready whenever it is printed, and as it was afterwards; returns how to stop. */
export function lightOnPaper(): () => void {
  let before = themeChoice.peek();
  const ready = () => {
    before = themeChoice.peek();
    if (isDark.peek()) themeChoice.value = "light";
    everything.value = true;
    unfold();
  };
  const over = () => (themeChoice.value = before);
  addEventListener("beforeprint", ready);
  addEventListener("afterprint", over);
  return () => {
    removeEventListener("beforeprint", ready);
    removeEventListener("afterprint", over);
    everything.value = false;
  };
}

/** Draws all panels, wherever they are, and prints when they had a moment to. */
export function printAll(): void {
  everything.value = true;
  setTimeout(() => print(), DRAW_ALL_AFTER_MS);
}

/** For a file: `#print` says that it is printed by a program, as wide as a sheet of A4, at once. */
export function preparePrinting(): void {
  if (location.hash !== "#print") {
    setTimeout(() => (everything.value = true), DRAW_ALL_AFTER_MS);
    lightOnPaper();
    return;
  }
  document.documentElement.dataset.paper = "";
  themeChoice.value = "light";
  everything.value = true;
  setInterval(unfold, 300);
}

/** Components of the app link to its pages. There are none here: such a link becomes the text it is. */
export function deadLinks(app: HTMLElement): void {
  const clear = () => {
    for (const link of app.querySelectorAll('a[href^="#/"]')) link.removeAttribute("href");
  };
  new MutationObserver(clear).observe(app, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["href"],
  });
}
