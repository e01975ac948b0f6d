/**
 * One graph on the screen: what is open, chosen and coloured, where everything lies, and what a person does with it.
 */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Camera, fit, intoWidth, pan, type Rect, reveal, type Size, zoomAt } from "../lib/graph-camera";
import type { ColourBy } from "../lib/graph-measure";
import { boxAt, foldedInto, type GraphModel, type Item, openAtFirst, readGraph } from "../lib/graph-model";
import { type Move, moveFrom } from "../lib/graph-moves";
import { type Direction, type Path, pathOf } from "../lib/graph-path";
import { layScene, type Scene, type SceneItem, type Sizes } from "../lib/graph-scene";
import { type Index, indexOf } from "../lib/graph-search";
import { isBox, nodesInside, seenAs, show, type Shown, wayTo } from "../lib/graph-shown";
import type { GraphData } from "../lib/schema";
import type { Layouts } from "./layouts";

/** What the camera does when the next layout is there. */
type Intent = { kind: "fit" } | { kind: "keep"; item: Item; show: boolean } | { kind: "reveal"; item: Item } | null;

let made = 0;

export class GraphState {
  /** No two graphs have the same, so that what shows one is made anew for another. */
  readonly id = ++made;
  readonly model: GraphModel;
  readonly open: Signal<ReadonlySet<Item>>;
  readonly unfolded = signal<ReadonlySet<Item>>(new Set());
  readonly weights: Signal<boolean>;
  readonly shown: ReadonlySignal<Shown>;
  readonly scene = signal<Scene | null>(null);
  /** Counts the layouts, so that lines fade in after each. */
  readonly turn = signal(0);
  /** A layout was asked for and is not there yet. */
  readonly laying = signal(false);
  readonly fault = signal<unknown>(null);
  readonly camera = signal<Camera>({ left: 0, top: 0, scale: 1 });
  /** The camera's last change was a jump that should be seen as a movement. */
  readonly glides = signal(false);
  readonly screen = signal<Size>({ width: 0, height: 0 });
  readonly selected = signal<Item | null>(null);
  readonly direction = signal<Direction | null>(null);
  readonly colourBy: Signal<ColourBy>;
  readonly places: ReadonlySignal<ReadonlyMap<Item, SceneItem>>;
  readonly path: ReadonlySignal<Path | null>;
  readonly neighbours: ReadonlySignal<ReadonlySet<number>>;
  private intent: Intent = { kind: "fit" };
  private asked = 0;
  private searchIndex: Index | null = null;
  private readonly stopLayout: () => void;

  constructor(
    data: GraphData,
    private readonly layouts: Layouts,
    private readonly sizes: (shown: Shown) => Sizes,
    colourBy: Signal<ColourBy> = signal(data.color ?? "time"),
  ) {
    this.model = readGraph(data);
    this.weights = signal(data.parameters);
    this.open = signal(openAtFirst(this.model));
    this.colourBy = colourBy;
    this.shown = computed(() => show(this.model, { unfolded: this.unfolded.value, weights: this.weights.value }));
    this.places = computed(() => new Map(this.scene.value?.items.map((place) => [place.item, place])));
    this.path = computed(() => {
      const { value: item } = this.selected;
      const { value: direction } = this.direction;
      return item === null || direction === null ? null : pathOf(this.shown.value, item, direction);
    });
    this.neighbours = computed(() => this.edgesAt(this.selected.value));
    this.stopLayout = effect(() => void this.lay(this.shown.value, this.open.value));
  }

  close(): void {
    this.stopLayout();
    this.layouts.close();
  }

  get index(): Index {
    return (this.searchIndex ??= indexOf(this.model));
  }

  private async lay(shown: Shown, open: ReadonlySet<Item>): Promise<void> {
    const turn = ++this.asked;
    this.laying.value = true;
    try {
      const scene = await layScene(shown, open, this.sizes(shown), (plan) => this.layouts.place(plan));
      if (turn !== this.asked) return;
      const before = this.places.peek();
      this.scene.value = scene;
      this.turn.value++;
      this.settle(before);
      this.fault.value = null;
    } catch (fault) {
      if (turn === this.asked) this.fault.value = fault;
    } finally {
      if (turn === this.asked) this.laying.value = false;
    }
  }

  private settle(before: ReadonlyMap<Item, SceneItem>): void {
    const { intent } = this;
    this.intent = null;
    if (intent?.kind === "fit") return this.fitAll(this.turn.peek() > 1);
    if (intent?.kind === "reveal") return this.revealItem(intent.item);
    if (intent?.kind !== "keep") return;
    const [was, is] = [before.get(intent.item), this.places.peek().get(intent.item)];
    if (!was || !is) return this.revealItem(intent.item);
    const { scale, left, top } = this.camera.peek();
    const middle = (was.x + was.w / 2 - (is.x + is.w / 2)) * scale;
    const kept = { scale, left: left + middle, top: top + (was.y - is.y) * scale };
    this.moveTo(intent.show ? reveal(kept, is, this.screen.peek()) : kept, true);
  }

  moveTo(camera: Camera, glide = false): void {
    this.glides.value = glide;
    this.camera.value = camera;
  }

  panBy(dx: number, dy: number): void {
    this.moveTo(pan(this.camera.peek(), dx, dy));
  }

  zoomBy(factor: number, x = this.screen.peek().width / 2, y = this.screen.peek().height / 2, glide = false): void {
    this.moveTo(zoomAt(this.camera.peek(), factor, x, y), glide);
  }

  /** A drawing that would be too small to read is shown from its top instead of whole. */
  fitAll(glide = true, whole = false): void {
    const scene = this.scene.peek();
    const screen = this.screen.peek();
    if (!scene || screen.width === 0) return;
    const all: Rect = { x: 0, y: 0, w: scene.width, h: scene.height };
    const camera = fit(all, screen);
    const readable = 0.85;
    if (whole || camera.scale >= readable) return this.moveTo(camera, glide);
    const scale = Math.max(camera.scale, Math.min(readable, (screen.width - 56) / Math.max(1, scene.width)));
    this.moveTo({ scale, left: screen.width / 2 - (scene.width / 2) * scale, top: 28 }, glide);
  }

  /** Of the item, or of the box that stands for it while it is closed. */
  private placeOf(item: Item): SceneItem | undefined {
    const seen = seenAs(this.shown.peek(), this.open.peek(), item);
    return seen === null ? undefined : this.places.peek().get(seen);
  }

  revealItem(item: Item): void {
    const place = this.placeOf(item);
    if (place) this.moveTo(reveal(this.camera.peek(), place, this.screen.peek()), true);
  }

  /** Nothing moves under the pointer that chose something; only a choice that the narrower screen hides is shown. */
  resize(size: Size): void {
    const before = this.screen.peek();
    if (size.width === before.width && size.height === before.height) return;
    this.screen.value = size;
    if (before.width === 0) return this.fitAll(false);
    const chosen = this.selected.peek();
    const place = chosen === null ? undefined : this.placeOf(chosen);
    if (place) this.moveTo(intoWidth(this.camera.peek(), place, size), true);
  }

  toggle(item: Item, on = !this.open.peek().has(item)): void {
    if (!isBox(this.shown.peek(), item)) return;
    const open = new Set(this.open.peek());
    if (on) open.add(item);
    else open.delete(item);
    this.intent = { kind: "keep", item, show: on };
    this.open.value = open;
  }

  /** Shows the blocks that `item` stands for, or folds the ones it belongs to. */
  toggleFold(item: Item): void {
    batch(() => this.turnFold(item));
  }

  private turnFold(item: Item): void {
    const box = boxAt(this.model, item);
    const head = box?.fold ?? item;
    const unfolded = new Set(this.unfolded.peek());
    if (!unfolded.delete(head)) {
      unfolded.add(head);
      // Closed, so that they are seen beside one another; each can be opened.
      const blocks = new Set(foldedInto(this.model, head).map((block) => block.id));
      this.open.value = new Set([...this.open.peek()].filter((open) => !blocks.has(open)));
    }
    if (this.selected.peek() !== null && this.selected.peek() !== head) this.selected.value = head;
    this.intent = { kind: "keep", item: head, show: false };
    this.unfolded.value = unfolded;
  }

  closeAll(): void {
    this.intent = { kind: "fit" };
    batch(() => {
      this.unfolded.value = new Set();
      this.open.value = openAtFirst(this.model);
    });
  }

  select(item: Item | null): void {
    if (item === null) this.direction.value = null;
    this.selected.value = item;
  }

  /** Opens every box on the way to an item, chooses it and shows it. */
  goTo(item: Item): void {
    batch(() => this.openWayTo(item));
  }

  private openWayTo(item: Item): void {
    const { unfold } = wayTo(this.shown.peek(), item);
    if (unfold.length > 0) this.unfolded.value = new Set([...this.unfolded.peek(), ...unfold]);
    const kind = this.model.nodes[item - this.model.boxes.length]?.kind;
    if (kind === "parameter" || kind === "buffer") this.weights.value = true;
    const { open } = wayTo(this.shown.peek(), item);
    const closed = open.filter((box) => !this.open.peek().has(box));
    this.select(item);
    this.intent = { kind: "reveal", item };
    if (closed.length > 0) this.open.value = new Set([...this.open.peek(), ...closed]);
    else if (this.places.peek().has(item)) this.revealItem(item);
  }

  move(move: Move): void {
    const { value: scene } = this.scene;
    if (!scene) return;
    const { selected, shown, open } = this;
    const here = selected.peek() === null ? null : seenAs(shown.peek(), open.peek(), selected.peek() as Item);
    const next = moveFrom(scene, here, move, (item) => shown.peek().parent.get(item));
    if (next === null) return;
    this.select(next);
    this.revealItem(next);
  }

  /** The recorded edges that arrive at or leave an item. */
  private edgesAt(item: Item | null): Set<number> {
    const found = new Set<number>();
    if (item === null) return found;
    const inside = new Set(nodesInside(this.shown.value, item));
    for (const id of inside) {
      for (const edge of this.model.arriving[id] ?? [])
        if (!inside.has(this.model.edges[edge]?.source ?? -1)) found.add(edge);
      for (const edge of this.model.leaving[id] ?? [])
        if (!inside.has(this.model.edges[edge]?.target ?? -1)) found.add(edge);
    }
    return found;
  }
}
