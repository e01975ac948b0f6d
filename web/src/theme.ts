/** Light, dark, or as the system says; kept in localStorage. `public/theme.js` applies it before the first paint. */

import { computed, effect, signal } from "@preact/signals";
import { readStored, writeStored } from "./lib/stored";

export type ThemeChoice = "light" | "dark" | "system";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (event) => (systemDark.value = event.matches));

const stored = readStored("theme");
export const themeChoice = signal<ThemeChoice>(stored === "light" || stored === "dark" ? stored : "system");
/**
 * True when the page is dark now; canvas code reads this to choose its inks. The page gets its theme right here and not
 * in an effect: effects run in no order one can count on, and a chart would read its inks from the theme before.
 */
export const isDark = computed(() => {
  const dark = themeChoice.value === "system" ? systemDark.value : themeChoice.value === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  return dark;
});

effect(() => {
  void isDark.value;
  writeStored("theme", themeChoice.value);
});

export function nextTheme(): void {
  const order: ThemeChoice[] = ["system", "light", "dark"];
  themeChoice.value = order[(order.indexOf(themeChoice.value) + 1) % order.length] as ThemeChoice;
}
