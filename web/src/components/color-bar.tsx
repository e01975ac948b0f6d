/** Which value gives runs their colors, and the legend of it: one line below the top bar, on every page. */

import { useEffect, useState } from "preact/hooks";
import { colorBy, fault, missing, scale } from "../color-by";
import { call } from "../lib/api";
import { type ColorScale, legendOf, shadeAt } from "../lib/color-by";
import { count, cutMiddle, visibleText } from "../lib/format";
import type { RunColumn } from "../lib/schema";
import { isDark } from "../theme";
import { Button } from "./button";
import { Select } from "./fields";
import { CloseIcon } from "./icons";

/** `lr` of `config.lr`. */
const labelOf = (key: string): string => visibleText(key.replace(/^config\./, ""));

/** The pages where runs have colors. */
const PAGES = /^\/(|runs|charts|compare|media|distributions|run\/.*)$/;

export function ColorBar({ path }: { path: string }) {
  if (!colorBy.value || !PAGES.test(path)) return null;
  return (
    <section class="hstack gap-2 rigid small one-line under color-bar" aria-label="Colors of runs">
      <span class="quiet">Color</span>
      <strong class="isolate ellipsis">{labelOf(colorBy.value)}</strong>
      {scale.value ? <Legend scale={scale.value} /> : <span class="quiet">{fault.value}</span>}
      <span class="spring" />
      <Button kind="quiet" title="Give each run its own color again" onClick={() => (colorBy.value = "")}>
        <CloseIcon size={12} /> Own colors
      </Button>
    </section>
  );
}

function Legend({ scale: now }: { scale: ColorScale }) {
  const dark = isDark.value;
  const entries = legendOf(now, dark);
  return (
    <span class="hstack gap-2 color-legend" role="group" aria-label="Legend" tabIndex={0}>
      {now.kind === "numbers" && entries.length === 2 ? (
        <>
          <span>{entries[0]?.label}</span>
          <i class="color-ramp" style={{ background: gradient(dark) }} />
          <span>{entries[1]?.label}</span>
          {now.log ? <span class="quiet">log</span> : null}
        </>
      ) : (
        entries.map((one) => (
          <span key={one.label} class="inline color-name">
            <i style={{ background: one.color }} />
            <span class="isolate ellipsis">{visibleText(one.label) || "(empty)"}</span>
          </span>
        ))
      )}
      {now.kind === "names" && now.others > 0 ? <span class="quiet">{count(now.others, "other")} gray</span> : null}
      {missing.value > 0 ? <span class="quiet">{count(missing.value, "run")} without, gray</span> : null}
    </span>
  );
}

const gradient = (dark: boolean): string =>
  `linear-gradient(90deg, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map((part) => shadeAt(part, dark)).join(", ")})`;

/** The choice of the value, for a page's settings. */
export function ColorSelect() {
  const [columns, setColumns] = useState<readonly RunColumn[]>([]);
  useEffect(() => {
    call("POST /api/columns", { query: "" }).then(
      (found) => setColumns(found.columns.filter((column) => column.source === "config" && column.distinct > 1)),
      () => undefined, // what is chosen can still be undone
    );
  }, []);
  const chosen = colorBy.value;
  const keys = columns.map((column) => column.key);
  const offered = !chosen || keys.includes(chosen) ? keys : [...keys, chosen];
  return (
    <Select
      label="Color runs by"
      value={chosen}
      options={[
        { value: "", label: "One color per run" },
        ...offered.map((key) => ({ value: key, label: cutMiddle(labelOf(key), 60) })),
      ]}
      onChange={(key) => (colorBy.value = key)}
    />
  );
}
