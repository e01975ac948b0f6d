/** Walking through the drawing with the arrow keys: down and up along edges, left and right to neighbours. */

import type { Item } from "./graph-model";
import type { Scene, SceneItem } from "./graph-scene";

export type Move = "up" | "down" | "left" | "right";

/** The item that an arrow leads to, or null when there is none. `inside` tells whether an item lies in an open box. */
export function moveFrom(
  scene: Scene,
  from: Item | null,
  move: Move,
  parentOf: (item: Item) => Item | undefined,
): Item | null {
  const places = new Map(scene.items.map((place) => [place.item, place]));
  const here = from === null ? undefined : places.get(from);
  if (!here) return topmost(scene.items);
  if (move === "left" || move === "right") return beside(scene.items, here, move, parentOf);
  if (move === "down" && here.open) return topmost(scene.items.filter((place) => parentOf(place.item) === here.item));
  return alongEdge(scene, places, here, move) ?? outOf(scene, places, here, move, parentOf);
}

function topmost(items: readonly SceneItem[]): Item | null {
  let best: SceneItem | null = null;
  for (const place of items) if (!best || place.y < best.y || (place.y === best.y && place.x < best.x)) best = place;
  return best?.item ?? null;
}

/** Of several edges, the one whose other end is straightest above or below. */
function alongEdge(
  scene: Scene,
  places: ReadonlyMap<Item, SceneItem>,
  here: SceneItem,
  move: "up" | "down",
): Item | null {
  let best: Item | null = null;
  let nearest = Infinity;
  for (const edge of scene.edges) {
    const other =
      move === "down" ? (edge.from === here.item ? edge.to : null) : edge.to === here.item ? edge.from : null;
    const place = other === null ? undefined : places.get(other);
    if (!place) continue;
    const distance = Math.abs(middle(place) - middle(here)) + Math.abs(place.y - here.y) / 4;
    if (distance < nearest) [best, nearest] = [place.item, distance];
  }
  return best;
}

/** At the border of an open box: up to the box itself, down to what follows it. */
function outOf(
  scene: Scene,
  places: ReadonlyMap<Item, SceneItem>,
  here: SceneItem,
  move: "up" | "down",
  parentOf: (item: Item) => Item | undefined,
): Item | null {
  const around = parentOf(here.item);
  const box = around === undefined ? undefined : places.get(around);
  if (!box) return null;
  return move === "up"
    ? box.item
    : (alongEdge(scene, places, box, "down") ?? outOf(scene, places, box, "down", parentOf));
}

function beside(
  items: readonly SceneItem[],
  here: SceneItem,
  move: "left" | "right",
  parentOf: (item: Item) => Item | undefined,
): Item | null {
  const around = parentOf(here.item);
  const sign = move === "right" ? 1 : -1;
  let best: Item | null = null;
  let nearest = Infinity;
  for (const place of items) {
    const dx = (middle(place) - middle(here)) * sign;
    if (place === here || dx <= 0 || parentOf(place.item) !== around) continue;
    const distance = dx + 3 * Math.abs(place.y + place.h / 2 - here.y - here.h / 2);
    if (distance < nearest) [best, nearest] = [place.item, distance];
  }
  return best;
}

function middle(place: SceneItem): number {
  return place.x + place.w / 2;
}
