/** The lines a run is judged by, on its first page. */

import { useMemo } from "preact/hooks";
import { lazily } from "../../components/lazily";
import type { RunDetail } from "../../lib/schema";

const MOST = 4;

/** Its code comes later than the page; its place is kept. */
const ScopedPanel = lazily(() => import("../charts/scoped").then((found) => found.ScopedPanel));

export function MainCharts({ run }: { run: RunDetail }) {
  const runs = useMemo(() => [run.id], [run.id]);
  // The server has put what matters first.
  const keys = run.summary
    .filter((value) => value.points > 1 && !value.key.startsWith("system/"))
    .map((value) => value.key);
  const shown = keys.slice(0, keys.length < MOST ? 2 : MOST);
  if (shown.length === 0) return null;
  return (
    <section class="main-charts" data-count={shown.length} aria-label="Main metrics">
      <h2 class="visually-hidden">Main metrics</h2>
      {shown.map((key) => (
        <ScopedPanel key={key} runs={runs} name={key} />
      ))}
    </section>
  );
}
