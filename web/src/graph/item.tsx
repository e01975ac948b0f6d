/** One box or op on the drawing. */

import { memo } from "preact/compat";
import { amountText, type Amount } from "../lib/graph-measure";
import { type Item, nodeAt } from "../lib/graph-model";
import { HEADING, type SceneItem } from "../lib/graph-scene";
import { isBox, type Shown } from "../lib/graph-shown";
import { captionOf, cut } from "../lib/graph-words";
import { inkStyle, type Look } from "./look";

interface Props {
  shown: Shown;
  place: SceneItem;
  look: Look;
  amount: Amount | null;
  chosen: boolean;
  dim: boolean;
}

export const itemId = (item: Item): string => `graph-item-${item}`;

/** Redrawn only when its own part of the picture changes. */
export const ItemView = memo(function ItemView({ shown, place, look, amount, chosen, dim }: Props) {
  const { item, x, y } = place;
  const box = isBox(shown, item);
  const kind = box ? "box" : (nodeAt(shown.model, item)?.kind ?? "op");
  const style: Record<string, string> = { transform: `translate(${x}px, ${y}px)` };
  if (look.heat !== null) style["--heat"] = `${Math.round(look.heat * 100)}%`;
  return (
    <g
      id={itemId(item)}
      class={`graph-item graph-${kind}`}
      style={style}
      data-item={item}
      data-open={place.open || undefined}
      data-depth={place.open ? place.depth % 2 : undefined}
      data-heat={look.heat === null ? undefined : ""}
      data-bad={look.bad || look.failed || undefined}
      data-chosen={chosen || undefined}
      data-dim={dim || undefined}
      role="img"
      aria-label={labelOf(shown, item)}
    >
      <title>
        {[labelOf(shown, item), amount && look.amount !== null ? amountText(look.amount, amount) : ""]
          .filter(Boolean)
          .join(" · ")}
      </title>
      {box ? (
        place.open ? (
          <OpenBox shown={shown} place={place} />
        ) : (
          <ClosedBox shown={shown} place={place} look={look} amount={amount} />
        )
      ) : (
        <Op shown={shown} place={place} />
      )}
      <Kinds place={place} look={look} />
    </g>
  );
}, sameProps);

function sameProps(a: Props, b: Props): boolean {
  const [p, q] = [a.place, b.place];
  return (
    a.shown === b.shown &&
    a.look === b.look &&
    a.amount === b.amount &&
    a.chosen === b.chosen &&
    a.dim === b.dim &&
    p.item === q.item &&
    p.x === q.x &&
    p.y === q.y &&
    p.w === q.w &&
    p.h === q.h &&
    p.open === q.open
  ); // prettier-ignore
}

function labelOf(shown: Shown, item: Item): string {
  const { title, detail, badge } = captionOf(shown, item);
  return [cut(title), cut(detail), badge].filter(Boolean).join(" ");
}

function Op({ shown, place: { item, w, h } }: { shown: Shown; place: SceneItem }) {
  const node = nodeAt(shown.model, item);
  return (
    <>
      <rect class="graph-face" width={w} height={h} rx={node?.kind === "op" ? 6 : h / 2} />
      <text class="graph-op-name" x={w / 2} y={h / 2}>
        {cut(node?.name ?? "")}
      </text>
    </>
  );
}

function Caret({ open, down = 0 }: { open: boolean; down?: number }) {
  return (
    <g class="graph-caret" data-toggle="" transform={down ? `translate(0 ${down})` : undefined}>
      <rect x="0" y="0" width="26" height="30" />
      <path d={open ? "m10 13 3.5 3.5 3.5-3.5" : "m12 11.5 3.5 3.5-3.5 3.5"} />
    </g>
  );
}

function ClosedBox({
  shown,
  place: { item, w, h },
  look,
  amount,
}: {
  shown: Shown;
  place: SceneItem;
  look: Look;
  amount: Amount | null;
}) {
  const { title, detail, badge } = captionOf(shown, item);
  return (
    <>
      {badge ? (
        <>
          <rect class="graph-behind" x={6} y={6} width={w} height={h} rx={8} />
          <rect class="graph-behind" x={3} y={3} width={w} height={h} rx={8} />
        </>
      ) : null}
      <rect class="graph-face" width={w} height={h} rx={8} />
      <Caret open={false} down={detail ? 0 : h / 2 - 15} />
      <text class="graph-box-name" x={26} y={detail ? 15 : h / 2}>
        {cut(title)}
      </text>
      {detail ? (
        <text class="graph-box-type" x={26} y={30}>
          {cut(detail)}
        </text>
      ) : null}
      {amount && look.amount !== null ? (
        <text class="graph-box-amount" x={w - 10} y={detail ? 30 : h / 2}>
          {amountText(look.amount, amount)}
        </text>
      ) : null}
      {badge ? <Badge text={badge} right={w - 8} middle={15} /> : null}
    </>
  );
}

function OpenBox({ shown, place: { item, w, h } }: { shown: Shown; place: SceneItem }) {
  const { title, detail, badge } = captionOf(shown, item);
  return (
    <>
      {badge ? <rect class="graph-behind" x={5} y={5} width={w} height={h} rx={10} /> : null}
      <rect class="graph-face" width={w} height={h} rx={10} />
      <path class="graph-heading" d={`M0 10a10 10 0 0 1 10-10H${w - 10}a10 10 0 0 1 10 10V${HEADING}H0Z`} />
      <Caret open />
      <text class="graph-box-name" x={26} y={HEADING / 2}>
        {cut(title)}
        {detail ? (
          <tspan class="graph-box-type" dx={8}>
            {cut(detail)}
          </tspan>
        ) : null}
      </text>
      {badge ? <Badge text={badge} right={w - 10} middle={HEADING / 2} /> : null}
    </>
  );
}

function Badge({ text, right, middle }: { text: string; right: number; middle: number }) {
  const width = 10 + text.length * 7;
  return (
    <g class="graph-badge" data-fold="">
      <title>Show these blocks one by one</title>
      <rect x={right - width} y={middle - 8} width={width} height={16} rx={8} />
      <text x={right - width / 2} y={middle}>
        {text}
      </text>
    </g>
  );
}

/** A bar of the kinds inside: one colour for an op, shares for a box. */
function Kinds({ place: { w, h, open }, look }: { place: SceneItem; look: Look }) {
  if (open || look.kinds.length === 0) return null;
  let left = 6;
  return (
    <g class="graph-kinds">
      {look.kinds.map(({ ink, share, name }) => {
        const width = share * (w - 12);
        const bar = <rect key={name} x={left} y={h - 4} width={width} height={3} style={inkStyle(ink)} />;
        left += width;
        return bar;
      })}
    </g>
  );
}
