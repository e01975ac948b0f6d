/** Which call tree is shown, how, and what part of it. */

import { computed, signal } from "@preact/signals";
import { call, isAbort } from "../../../lib/api";
import { callersOf } from "../../../lib/icicle-callers";
import type { FrameColour } from "../../../lib/icicle-colour";
import type { IcicleView } from "../../../lib/icicle-paint";
import { findFrames } from "../../../lib/icicle-search";
import { functionsIn, type Tree, treeOf } from "../../../lib/icicle-tree";
import type { Stack, StackSource } from "../../../lib/schema";

export interface Spot {
  run: string;
  profile: string;
  rank: number;
}

export type Direction = "callees" | "callers";

const FLIGHT_MS = 200;
const ALL: IcicleView = { from: 0, to: 1 };

export class PythonState {
  readonly sources = signal<readonly StackSource[] | null>(null);
  readonly failed = signal<readonly string[]>([]);
  readonly stack = signal<Stack | null>(null);
  /** The analysis that the tree is from. */
  readonly source = signal("");
  /** Of each name of the stack whose code it is. */
  readonly packages = signal<readonly string[]>([]);
  readonly fault = signal<unknown>(null);
  readonly direction = signal<Direction>("callees");
  /** Only the callers of this function. */
  readonly only = signal<number | null>(null);
  /** The part of the tree whose callers are shown: what filled the width when it was turned round. */
  readonly under = signal(-1);
  readonly flame = signal(false);
  readonly colour = signal<FrameColour>("package");
  readonly query = signal("");
  /** A function that was chosen in the table. */
  readonly focus = signal<number | null>(null);
  /** The node that fills the width; -1 for all. */
  readonly root = signal(-1);
  readonly view = signal<IcicleView>(ALL);
  readonly scroll = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly hovered = signal<{ node: number; x: number; y: number } | null>(null);
  readonly chosen = signal(-1);

  readonly base = computed(() => (this.stack.value ? treeOf(this.stack.value) : null));
  readonly tree = computed<Tree | null>(() => {
    const base = this.base.value;
    return base && this.direction.value === "callers" ? callersOf(base, this.only.value, this.under.value) : base;
  });
  readonly search = computed(() => (this.tree.value ? findFrames(this.tree.value, this.query.value) : null));
  readonly lit = computed(() => {
    const focus = this.focus.value;
    const stack = this.stack.value;
    if (focus === null || !stack) return this.search.value?.lit ?? null;
    const lit = new Uint8Array(stack.names.length);
    lit[focus] = 1;
    return lit;
  });
  readonly part = computed(() => (this.direction.value === "callees" ? this.root.value : this.under.value));
  /** The functions of the part that fills the width, or that was turned round. */
  readonly functions = computed(() => {
    const base = this.base.value;
    return base ? functionsIn(base, this.part.value) : [];
  });

  private flight = 0;
  private turn = 0;

  constructor(readonly spot: Spot) {}

  async load(): Promise<void> {
    await this.guarded(async () => {
      const found = await call("POST /api/stacks", { ...this.spot });
      this.sources.value = found.sources;
      this.failed.value = found.failed;
      const first = found.sources[0];
      if (first) await this.open(first.id);
    });
  }

  async open(id: string): Promise<void> {
    const turn = ++this.turn;
    await this.guarded(async () => {
      const { stack, packages } = await call("POST /api/stack", { ...this.spot, id });
      if (turn !== this.turn) return;
      this.reset();
      this.focus.value = this.only.value = null;
      this.direction.value = "callees";
      this.packages.value = packages;
      this.source.value = id;
      this.stack.value = stack;
      this.startAtTraining();
    });
  }

  /** Where other threads are in the tree too, the training comes first. */
  private startAtTraining(): void {
    const tree = this.base.peek();
    const training = tree?.stack.names.indexOf("training thread") ?? -1;
    const root = tree && training >= 0 ? tree.rows[0]?.find((node) => tree.name[node] === training) : undefined;
    if (!tree || root === undefined) return;
    this.root.value = root;
    this.view.value = { from: tree.from[root] as number, to: tree.to[root] as number };
  }

  close(): void {
    this.turn++;
    cancelAnimationFrame(this.flight);
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.fault.value = null;
    } catch (fault) {
      if (!isAbort(fault)) this.fault.value = fault;
    }
  }

  private reset(): void {
    cancelAnimationFrame(this.flight);
    this.root.value = this.chosen.value = -1;
    this.view.value = ALL;
    this.scroll.value = 0;
    this.hovered.value = null;
  }

  turnTo(direction: Direction, only: number | null = null): void {
    const part = this.part.peek();
    this.reset();
    this.only.value = only;
    this.under.value = direction === "callers" && only === null ? part : -1;
    this.direction.value = direction;
    if (direction === "callees" && part >= 0) this.zoom(part);
  }

  /** Lets a node fill the width; -1 shows all. */
  zoom(node: number): void {
    const tree = this.tree.peek();
    if (!tree) return;
    this.root.value = node;
    this.chosen.value = node;
    this.fly(node < 0 ? ALL : { from: tree.from[node] as number, to: tree.to[node] as number });
    this.reveal(node);
  }

  /** Scrolls so that a node's row is on the screen. */
  private reveal(node: number): void {
    const tree = this.tree.peek();
    const row = 20;
    const { height } = this.size.peek();
    const top = (node < 0 ? 0 : (tree?.depth[node] ?? 0)) * row;
    if (top < this.scroll.peek()) this.scrollTo(top);
    else if (top + row > this.scroll.peek() + height) this.scrollTo(top - height / 2);
  }

  private fly(to: IcicleView): void {
    cancelAnimationFrame(this.flight);
    const from = this.view.peek();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return void (this.view.value = to);
    const began = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, (now - began) / FLIGHT_MS);
      const t = 1 - (1 - part) ** 3;
      this.view.value =
        part >= 1 ? to : { from: from.from + (to.from - from.from) * t, to: from.to + (to.to - from.to) * t };
      if (part < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  /** Free zoom around a place of the screen, between 0 and 1. */
  zoomBy(factor: number, at: number): void {
    cancelAnimationFrame(this.flight);
    const { from, to } = this.view.peek();
    const width = Math.max(1e-9, Math.min(1, (to - from) / factor));
    this.look(from + (to - from - width) * at, width);
  }

  panBy(share: number): void {
    cancelAnimationFrame(this.flight);
    const { from, to } = this.view.peek();
    this.look(from + (to - from) * share, to - from);
  }

  private look(from: number, width: number): void {
    const left = Math.max(0, Math.min(1 - width, from));
    this.view.value = { from: left, to: left + width };
  }

  scrollTo(top: number): void {
    const rows = this.tree.peek()?.rows.length ?? 0;
    this.scroll.value = Math.max(0, Math.min(top, rows * 20 - this.size.peek().height + 20));
  }

  /** To the caller, the largest callee, or a neighbour in the row. */
  move(key: "up" | "down" | "left" | "right"): void {
    const tree = this.tree.peek();
    if (!tree) return;
    const node = this.chosen.peek();
    const row = tree.rows[node < 0 ? 0 : (tree.depth[node] as number)];
    if (!row) return;
    if (node < 0) this.chosen.value = row[0] ?? -1;
    else if (key === "up")
      this.chosen.value = (tree.parent[node] as number) >= 0 ? (tree.parent[node] as number) : node;
    else if (key === "down")
      this.chosen.value =
        tree.rows[(tree.depth[node] as number) + 1]?.find((child) => tree.parent[child] === node) ?? node;
    else this.chosen.value = row[row.indexOf(node) + (key === "right" ? 1 : -1)] ?? node;
    this.reveal(this.chosen.peek());
  }
}
