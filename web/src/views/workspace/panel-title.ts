/** What stands over a panel: its title, or what it shows. */

import { visibleText } from "../../lib/format";
import type { OwnPanel } from "../../lib/workspace";
import { kindNamed, textOf } from "../../panels/panel";

const MOST = 4;

export function panelTitle(panel: OwnPanel): string {
  const { options } = panel;
  const given = textOf(options, "title") || textOf(options, "key");
  if (given) return visibleText(given);
  if (panel.kind === "lines") {
    const names = [...listed(options.y), ...listed(options.right)].map((name) => name.replace(/^=\s*/, ""));
    if (names.length)
      return visibleText(
        names.slice(0, MOST).join(", ") + (names.length > MOST ? ` and ${names.length - MOST} more` : ""),
      );
  }
  if (panel.kind === "scatter")
    return visibleText([textOf(options, "y"), textOf(options, "x")].filter(Boolean).join(" over ")) || "Scatter plot";
  if (panel.kind === "values")
    return visibleText(
      [textOf(options, "value"), textOf(options, "group") && `by ${textOf(options, "group")}`]
        .filter(Boolean)
        .join(" "),
    );
  return kindNamed(panel.kind)?.title ?? visibleText(panel.kind);
}

const listed = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === "string" && value ? [value] : [];
