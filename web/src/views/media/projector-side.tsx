/** Beside the cloud: what the colours mean, the chosen point and the vectors nearest to it, what was picked. */

import { formatNumber, visibleText } from "../../lib/format";
import { mapColour } from "../../lib/colour-maps";
import type { Colouring } from "../../lib/projector";
import type { MediaItem, Near, PointColumn } from "../../lib/schema";
import { Sprite } from "../charts/embedding-view";

export interface SideProps {
  item: MediaItem;
  sheet: MediaItem | undefined;
  columns: readonly PointColumn[];
  colouring: Colouring;
  colouredBy: string;
  only: string | null;
  onOnly(name: string): void;
  chosen: number;
  row: number;
  near: Near | null;
  placeOf(row: number): number;
  onChoose(point: number): void;
  picked: ReadonlySet<number> | null;
  onClear(): void;
  note: string;
}

export function Side(props: SideProps) {
  const { item, sheet, columns, chosen, row, near } = props;
  const say = (place: number): string => visibleText(String(columns[0]?.values[place] ?? ""));
  return (
    <aside class="vstack gap-3 scroll small projector-side">
      <Legend {...props} />
      {props.picked ? (
        <section>
          <h3>
            {props.picked.size.toLocaleString("en-US")} picked{" "}
            <button type="button" class="link" onClick={props.onClear}>
              Clear
            </button>
          </h3>
          <p class="quiet">{tally(props.picked, columns[0])}</p>
        </section>
      ) : null}
      {chosen >= 0 ? (
        <section>
          <h3>Row {row.toLocaleString("en-US")}</h3>
          <div class="point-card">
            {sheet ? <Sprite item={item} sheet={sheet} row={row} /> : null}
            <dl>
              {columns.map(({ name, values }) => (
                <div key={name}>
                  <dt class="isolate">{visibleText(name)}</dt>
                  <dd class="isolate ellipsis">{visibleText(String(values[chosen] ?? ""))}</dd>
                </div>
              ))}
            </dl>
          </div>
          <h3>Nearest vectors</h3>
          <ol class="near-list">
            {near?.rows.map((other, i) => {
              const place = props.placeOf(other);
              return (
                <li key={other}>
                  <button type="button" class="option" disabled={place < 0} onClick={() => props.onChoose(place)}>
                    {sheet ? <Sprite item={item} sheet={sheet} row={other} size={22} /> : null}
                    <span class="isolate ellipsis">{place >= 0 && say(place) ? say(place) : `row ${other}`}</span>
                    <span class="quiet">{formatNumber(near.distances[i] ?? 0, 3)}</span>
                  </button>
                </li>
              );
            })}
          </ol>
          <p class="quiet">cosine distance between the vectors themselves</p>
        </section>
      ) : (
        <p class="quiet">
          Click a point to see its neighbors; shift and drag picks several. After a click the wheel zooms.
        </p>
      )}
      {props.note ? <p class="quiet projector-note">{props.note}</p> : null}
    </aside>
  );
}

function Legend({ colouring, colouredBy, only, onOnly }: SideProps) {
  if (colouring.range) {
    const [low, high] = colouring.range;
    const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => mapColour("viridis", part)).join(", ");
    return (
      <section>
        <h3 class="isolate ellipsis">{visibleText(colouredBy)}</h3>
        <i class="scale-bar" style={{ background: `linear-gradient(to right, ${stops})` }} />
        <p class="apart quiet scale-ends">
          <span>{formatNumber(low, 3)}</span>
          <span>{formatNumber(high, 3)}</span>
        </p>
      </section>
    );
  }
  if (colouring.tooMany > 0) {
    return (
      <section>
        <h3 class="isolate ellipsis">{visibleText(colouredBy)}</h3>
        <p class="quiet">
          {colouring.tooMany.toLocaleString("en-US")} different values: too many to give each a color. Find points by
          their words instead.
        </p>
      </section>
    );
  }
  if (colouring.classes.length < 2) return null;
  return (
    <section>
      <h3 class="isolate ellipsis">{visibleText(colouredBy)}</h3>
      <ul class="class-list">
        {colouring.classes.map(({ name, colour, shape, count }) => (
          <li key={name}>
            <button
              type="button"
              class="option"
              aria-pressed={only === name}
              data-off={(only !== null && only !== name) || undefined}
              onClick={() => onOnly(name)}
            >
              <span class="ink" data-shape={shape} style={{ background: colour }} />
              <span class="isolate ellipsis">{visibleText(name) || "(none)"}</span>
              <span class="quiet">{count.toLocaleString("en-US")}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What is among the picked, by the first column. */
function tally(picked: ReadonlySet<number>, column: PointColumn | undefined): string {
  if (!column) return "";
  const counts = new Map<string, number>();
  for (const place of picked)
    counts.set(String(column.values[place] ?? ""), (counts.get(String(column.values[place] ?? "")) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5);
  return (
    most.map(([name, count]) => `${visibleText(name.slice(0, 30))} ${count}`).join(", ") + (counts.size > 5 ? " …" : "")
  );
}
