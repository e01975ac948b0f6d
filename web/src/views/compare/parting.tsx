/** Two curves in a small picture, with the step from which they stay apart. */

import { partingPaths } from "../../lib/compare-parting";
import type { Look } from "../../lib/colour";
import { formatNumber, visibleText } from "../../lib/format";
import type { Parting } from "../../lib/schema";

const WIDTH = 260;
const HEIGHT = 84;

export function PartingCard({ parting, looks }: { parting: Parting; looks: readonly [Look, Look] }) {
  const { a, b, at } = partingPaths(parting, WIDTH, HEIGHT);
  return (
    <figure class="pad framed parting" data-parts={parting.step !== null || undefined}>
      <figcaption class="isolate ellipsis" title={visibleText(parting.key)}>
        {visibleText(parting.key)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words(parting)}>
        {at === null ? null : (
          <line x1={at} x2={at} y1="2" y2={HEIGHT - 2} class="parting-line" vector-effect="non-scaling-stroke" />
        )}
        <path
          d={a}
          fill="none"
          stroke={looks[0].colour}
          stroke-dasharray={looks[0].dash.join(" ") || undefined}
          stroke-width="1.6"
          stroke-linejoin="round"
          vector-effect="non-scaling-stroke"
        />
        <path
          d={b}
          fill="none"
          stroke={looks[1].colour}
          stroke-dasharray={looks[1].dash.join(" ") || undefined}
          stroke-width="1.6"
          stroke-linejoin="round"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <p>{words(parting)}</p>
    </figure>
  );
}

function words({ step, a, b, noise, a_end, b_end, a_lost, b_lost }: Parting): string {
  const number = (value: number | null) => (value === null ? "no value" : formatNumber(value, 3));
  const at = (one: number) => `step ${one.toLocaleString("en-US")}`;
  const lost = [
    a_lost !== null ? `the first is not finite from ${at(a_lost)}` : "",
    b_lost !== null ? `the second is not finite from ${at(b_lost)}` : "",
  ]
    .filter(Boolean)
    .join("; ");
  const ends = `Ends at ${number(a_end)} vs. ${number(b_end)}${lost ? ` (${lost})` : ""}.`;
  if (step === null && noise === null) return `Too few points to tell a difference from noise. ${ends}`;
  if (step === null) return `Never diverges beyond the noise (${number(noise)}). ${ends}`;
  const beside = noise === null ? "" : `, noise ${number(noise)}`;
  return `Diverges at ${at(step)}: ${number(a)} vs. ${number(b)}${beside}. ${ends}`;
}
