/** A sheet whose rows make up one whole (kinds of kernels, the peak's categories), as one bar and its legend. */

import { lookOf } from "../../lib/colour";
import { visibleText } from "../../lib/format";
import { hues } from "../../lib/profile-hues";
import { exactUnit, formatShare, formatUnit } from "../../lib/profile-format";
import type { Sheet } from "../../lib/schema";
import { sheetSlices } from "../../lib/sheet-bars";
import { isDark } from "../../theme";

/** Analyses that are drawn like this, beside having their table. */
export const BARS: ReadonlySet<string> = new Set(["kernel-kinds", "memory-peak", "data-stages", "ranks"]);

export function SheetBars({ sheet }: { sheet: Sheet }) {
  const found = sheetSlices(sheet);
  if (!found) return null;
  const { column, slices, of } = found;
  const colours = hues(slices.map((one) => one.name)).map((hue) => lookOf(hue, isDark.value).colour);
  const tell = (name: string, value: number, share: number) =>
    visibleText(
      `${name}: ${exactUnit(value, column.unit)}, ${formatShare(share)}\n${column.label}. ${column.help ?? ""}`,
    );
  return (
    <section class="card parts" aria-label={visibleText(sheet.title)}>
      <header class="card-head">
        <h2>{visibleText(of ? `${sheet.title}: ${of}` : sheet.title)}</h2>
        <span class="quiet" title={visibleText(column.help ?? "")}>
          {visibleText(column.label)}
        </span>
      </header>
      <div class="typical">
        <div class="typical-bar" role="img" aria-label={visibleText(sheet.title)}>
          {slices.map((one, at) => (
            <span
              key={at}
              style={{ flexGrow: one.share, background: colours[at] }}
              title={tell(one.name, one.value, one.share)}
            />
          ))}
        </div>
        <ul class="wraps small legend">
          {slices.map((one, at) => (
            <li key={at} title={tell(one.name, one.value, one.share)}>
              <span class="ink" style={{ background: colours[at] }} />
              <span class="isolate ellipsis">{visibleText(one.name)}</span>
              <b>{formatShare(one.share)}</b>
              <span class="quiet">{formatUnit(one.value, column.unit)}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
