/** What the timeline shows: the part of the axis on the screen, the lanes, what is chosen, searched and selected. */

import { batch, computed, signal } from "@preact/signals";
import { call, callBytes, isAbort } from "../../../lib/api";
import type { PickedEvent, Selection, Spot, TimelinePage } from "../../../lib/schema";
import {
  type Axis,
  between,
  type Camera,
  clamped,
  fit,
  levelOf,
  panned,
  readStretch,
  tilesOf,
  writeStretch,
  zoomed,
} from "../../../lib/timeline-camera";
import { loadPatterns } from "../../../lib/pattern";
import { findNames, isPattern } from "../../../lib/timeline-find";
import type { Hit } from "../../../lib/timeline-hit";
import type { ColourBy } from "../../../lib/timeline-inks";
import { closedAtFirst, groupId, heightOf, laneId, layRows, LINE, PAD, rowsIn } from "../../../lib/timeline-rows";
import { TileStore } from "../../../lib/timeline-store";
import { unpackTiles } from "../../../lib/timeline-tile";
import { askHits, NO_SEARCH, nextHit, type SearchState } from "./search";

export interface Place {
  run: string;
  profile: string;
}

/** One rank on the common axis. */
export interface RankSource {
  page: TimelinePage;
  names: string[];
  /** Added to its times to come to the common axis. */
  offset: number;
  store: TileStore;
}

export interface Chosen {
  source: number;
  event: PickedEvent;
}

const FLIGHT_MS = 220;

export class TimelineState {
  readonly sources = signal<readonly RankSource[]>([]);
  readonly camera = signal<Camera>({ begin: 0, scale: 1 });
  readonly scroll = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly closed = signal<ReadonlySet<string>>(new Set());
  readonly hovered = signal<{ hit: Hit; x: number; y: number } | null>(null);
  readonly crosshair = signal<number | null>(null);
  readonly chosen = signal<Chosen | null>(null);
  readonly range = signal<readonly [number, number] | null>(null);
  readonly selection = signal<{ of: readonly [number, number]; bySource: readonly Selection[] } | null>(null);
  readonly search = signal<SearchState>(NO_SEARCH);
  readonly colourBy = signal<ColourBy>("name");
  /** A drag selects a stretch of time instead of moving the view. */
  readonly selecting = signal(false);
  readonly fault = signal<unknown>(null);
  /** Counts what was fetched, so that drawing follows. */
  readonly arrived = signal(0);

  readonly rows = computed(() =>
    layRows(
      this.sources.value.map(({ page }) => page),
      this.closed.value,
    ),
  );
  readonly height = computed(() => heightOf(this.rows.value));
  readonly axis = computed<Axis>(() => {
    const all = this.sources.value;
    if (all.length === 0) return { begin: 0, end: 1 };
    return {
      begin: Math.min(...all.map(({ page, offset }) => offset + Math.min(0, page.begin_ns))),
      end: Math.max(...all.map(({ page, offset }) => offset + page.span_ns)),
    };
  });
  /** What the ruler calls 0: where the program begins. */
  readonly zero = computed(() => {
    const first = this.sources.value[0];
    return first ? first.offset + first.page.begin_ns : 0;
  });

  private flight = 0;
  private placed = false;
  private asked = 0;
  private closing = false;

  /** `first`: the part of the axis that an address asks for. */
  constructor(
    readonly place: Place,
    private first = "",
  ) {}

  close(): void {
    this.closing = true;
    cancelAnimationFrame(this.flight);
    for (const source of this.sources.peek()) source.store.close();
  }

  /** Fetches the lanes of these ranks; the view stays where it is when ranks are added. */
  async load(ranks: readonly (number | null)[]): Promise<void> {
    try {
      const pages = await Promise.all(
        ranks.map((rank) => call("POST /api/timeline", { ...this.place, rank, together: ranks.length > 1 })),
      );
      if (this.closing) return;
      const base = pages.map((page) => BigInt(page.base_ns)).reduce((least, one) => (one < least ? one : least));
      const made = pages.map((page) => this.source(page, Number(BigInt(page.base_ns) - base)));
      for (const source of this.sources.peek()) source.store.close();
      batch(() => {
        this.sources.value = made;
        this.closed.value = closedAtFirst(pages);
        this.chosen.value = null;
        this.range.value = this.selection.value = null;
        this.search.value = NO_SEARCH;
        this.fault.value = null;
      });
      this.placed = false;
      this.settle();
      await Promise.all(made.map((source) => this.loadNames(source)));
    } catch (fault) {
      if (!isAbort(fault) && !this.closing) this.fault.value = fault;
    }
  }

  private source(page: TimelinePage, offset: number): RankSource {
    const { rank } = page;
    const store = new TileStore({
      tile: page.tile,
      span: page.span_ns,
      lanes: page.lanes.map((lane) => lane.id),
      fetch: async (request) =>
        unpackTiles(await callBytes("POST /api/timeline/tiles", { ...this.place, rank, ...request })),
      onTiles: () => batch(() => (this.arrived.value++, (this.fault.value = null))),
      onFault: (fault) => (this.fault.value = fault),
    });
    return { page, names: [], offset, store };
  }

  private async loadNames(source: RankSource): Promise<void> {
    for (let more = true; more && !this.closing; ) {
      const answer = await call("POST /api/timeline/names", {
        ...this.place,
        rank: source.page.rank,
        first: source.names.length,
      });
      source.names.push(...answer.names);
      more = answer.more && answer.names.length > 0;
      this.sources.value = [...this.sources.peek()];
    }
  }

  // -- the view -------------------------------------------------------------------------------------------------

  resize(width: number, height: number): void {
    this.size.value = { width, height };
    this.settle();
  }

  /** The recorded steps, once there is both a screen and something to show. */
  private settle(): void {
    if (this.placed || this.size.peek().width === 0 || this.sources.peek().length === 0) return;
    this.placed = true;
    const { width } = this.size.peek();
    const asked = readStretch(this.first, this.zero.peek(), width);
    this.camera.value = asked ? clamped(asked, this.axis.peek(), width) : this.opening();
    this.first = "";
    this.scroll.value = 0;
  }

  /** The recorded steps, without what the program did before and after them; everything if there are none. */
  private opening(): Camera {
    const steps = this.sources
      .peek()
      .flatMap(({ page, offset }) => page.steps.map((one) => [offset + one.begin_ns, offset + one.end_ns] as const));
    if (steps.length === 0) return this.whole();
    const begin = steps.reduce((least, [from]) => Math.min(least, from), Number.POSITIVE_INFINITY);
    const end = steps.reduce((most, [, to]) => Math.max(most, to), Number.NEGATIVE_INFINITY);
    return fit(begin, end, this.size.peek().width);
  }

  whole(): Camera {
    const all = this.sources.peek();
    const begin = Math.min(...all.map(({ page, offset }) => offset + page.begin_ns));
    const end = Math.max(...all.map(({ page, offset }) => offset + page.end_ns));
    return fit(begin, end, this.size.peek().width);
  }

  /** What is on the screen, for the address; "" for what the timeline opens on. */
  stretch(): string {
    const { width } = this.size.value;
    const camera = this.camera.value;
    if (!this.placed || width === 0) return this.first;
    const first = this.opening();
    const same =
      Math.abs(camera.scale / first.scale - 1) < 0.01 && Math.abs(camera.begin - first.begin) < first.scale * 4;
    return same ? "" : writeStretch(camera, this.zero.value, width);
  }

  private look(camera: Camera): void {
    this.camera.value = clamped(camera, this.axis.peek(), this.size.peek().width);
  }

  zoomBy(factor: number, x = this.size.peek().width / 2): void {
    cancelAnimationFrame(this.flight);
    this.look(zoomed(this.camera.peek(), factor, x));
  }

  panBy(dx: number, dy = 0): void {
    cancelAnimationFrame(this.flight);
    if (dx) this.look(panned(this.camera.peek(), dx));
    if (dy) this.scrollTo(this.scroll.peek() - dy);
  }

  scrollTo(top: number): void {
    this.scroll.value = Math.max(0, Math.min(top, this.height.peek() - this.size.peek().height + 24));
  }

  /** A short flight, so that one sees where one went. */
  flyTo(camera: Camera): void {
    cancelAnimationFrame(this.flight);
    const [from, width] = [this.camera.peek(), this.size.peek().width];
    const to = clamped(camera, this.axis.peek(), width);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return void (this.camera.value = to);
    const began = performance.now();
    const step = (now: number) => {
      const part = (now - began) / FLIGHT_MS;
      this.camera.value = part >= 1 ? to : between(from, to, part, width);
      if (part < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  fitAll(): void {
    this.flyTo(this.whole());
  }

  /** Tells every rank's store what is on the screen. */
  fetchVisible(): void {
    const { width, height } = this.size.peek();
    if (width === 0) return;
    const { begin, scale } = this.camera.peek();
    const seen = rowsIn(this.rows.peek(), this.scroll.peek() - height / 2, this.scroll.peek() + height * 1.5);
    this.sources.peek().forEach((source, at) => {
      const lanes = seen.flatMap((row) => (row.kind === "lane" && row.source === at ? [row.lane.id] : []));
      const from = begin - source.offset;
      source.store.want({
        begin: from,
        end: from + width * scale,
        level: levelOf(scale, devicePixelRatio || 1),
        lanes,
      });
    });
  }

  /** All that is on the screen has been fetched: for tests and measurements. */
  get settled(): boolean {
    const { begin, scale } = this.camera.peek();
    const level = levelOf(scale, devicePixelRatio || 1);
    return this.sources
      .peek()
      .every(
        ({ store, page, offset }) =>
          tilesOf(begin - offset, begin - offset, level, page.tile, page.span_ns).level === level && store.settled,
      );
  }

  // -- lanes ----------------------------------------------------------------------------------------------------

  toggle(id: string): void {
    const next = new Set(this.closed.peek());
    if (!next.delete(id)) next.add(id);
    this.closed.value = next;
    this.scrollTo(this.scroll.peek());
  }

  /** Opens or closes every lane. */
  toggleAll(): void {
    const lanes = this.sources.peek().flatMap(({ page }) => page.lanes.map((lane) => laneId(page.rank, lane.id)));
    const next = new Set(this.closed.peek());
    const close = lanes.some((id) => !next.has(id));
    for (const id of lanes) close ? next.add(id) : next.delete(id);
    this.closed.value = next;
    this.scrollTo(0);
  }

  /** Where an event is on the screen, in pixels below the ruler; null while its lane is closed. */
  boxOf(source: number, spot: Spot): { x: number; y: number; width: number; height: number } | null {
    const from = this.sources.peek()[source];
    const row = this.rows
      .peek()
      .find((one) => one.kind === "lane" && one.source === source && one.lane.id === spot.lane);
    if (!from || row?.kind !== "lane") return null;
    const { begin, scale } = this.camera.peek();
    const line = Math.max(0, Math.min(spot.depth - row.first, row.lines - 1));
    const x = (from.offset + spot.start_ns - begin) / scale;
    return { x, y: row.top + PAD + line * LINE - this.scroll.peek(), width: spot.dur_ns / scale, height: LINE - 1 };
  }

  /** Brings an event to the screen: its lane opened, and no smaller than can be seen. */
  show(source: number, spot: Spot, closer = false): void {
    const from = this.sources.peek()[source];
    const lane = from?.page.lanes.find((one) => one.id === spot.lane);
    if (!from || !lane) return;
    const next = new Set(this.closed.peek());
    next.delete(groupId(from.page.rank, lane.group));
    if (spot.depth !== lane.outer) next.delete(laneId(from.page.rank, lane.id));
    this.closed.value = next;
    const { width, height } = this.size.peek();
    const box = this.boxOf(source, spot);
    if (box && (box.y < 0 || box.y + box.height > height)) this.scrollTo(box.y + this.scroll.peek() - height / 2);
    const start = from.offset + spot.start_ns;
    const outside = !box || box.x < 0 || box.x > width || box.width < 2 || box.width > width;
    if (!outside && !closer) return;
    const room = Math.max(spot.dur_ns * (closer ? 1.1 : 6), 200);
    this.flyTo({ begin: start + spot.dur_ns / 2 - room / 2, scale: room / width });
  }

  // -- choosing -------------------------------------------------------------------------------------------------

  async choose(source: number, event: number, show = false): Promise<void> {
    const rank = this.sources.peek()[source]?.page.rank;
    if (rank === undefined) return;
    const turn = ++this.asked;
    try {
      const found = await call("POST /api/timeline/event", { ...this.place, rank, event });
      if (turn !== this.asked) return;
      this.chosen.value = { source, event: found };
      if (show) this.show(source, found.at);
    } catch (fault) {
      if (turn === this.asked) this.fault.value = fault;
    }
  }

  unchoose(): void {
    this.asked++;
    this.chosen.value = null;
  }

  /** Statistics of a stretch of time, over the lanes whose groups are open. */
  async select(range: readonly [number, number] | null): Promise<void> {
    this.range.value = range;
    if (!range) return void (this.selection.value = null);
    try {
      const bySource = await Promise.all(
        this.sources.peek().map(({ page, offset }) => {
          const lanes = page.lanes
            .filter((lane) => !this.closed.peek().has(groupId(page.rank, lane.group)))
            .map((lane) => lane.id);
          return call("POST /api/timeline/range", {
            ...this.place,
            rank: page.rank,
            begin_ns: range[0] - offset,
            end_ns: range[1] - offset,
            lanes,
          });
        }),
      );
      if (this.range.peek() === range) this.selection.value = { of: range, bySource };
    } catch (fault) {
      this.fault.value = fault;
    }
  }

  // -- searching ------------------------------------------------------------------------------------------------

  /** Marks what matches, and finds the first hit at or after the left edge. */
  async find(text: string): Promise<void> {
    if (text.trim() === "") return void (this.search.value = NO_SEARCH);
    if (isPattern(text)) await loadPatterns();
    const sources = this.sources.peek();
    const found = sources.map(({ names }) => findNames(names, text));
    const error = found.find((one) => one.error)?.error ?? null;
    const lit = found.map((one, at) => {
      const marks = new Uint8Array(sources[at]?.names.length ?? 0);
      for (const name of one.names) marks[name] = 1;
      return marks;
    });
    const names = found.reduce((sum, one) => sum + one.names.length, 0);
    this.search.value = { ...NO_SEARCH, text, error, lit: error || names === 0 ? [] : lit, names, asking: names > 0 };
    if (error || names === 0) return;
    try {
      const answers = await Promise.all(
        sources.map((source, at) =>
          askHits(this.place, source, found[at]?.names ?? [], null, this.camera.peek().begin - source.offset),
        ),
      );
      if (this.search.peek().text !== text) return;
      const total = answers.reduce((sum, answer) => sum + answer.total, 0);
      this.search.value = { ...this.search.peek(), found: answers, total, asking: false };
    } catch (fault) {
      this.fault.value = fault;
    }
  }

  /** To the next hit (or with -1 the one before), and on it. Ranks follow each other. */
  async step(by: 1 | -1): Promise<void> {
    const search = this.search.peek();
    if (search.total === 0) return;
    const { at, source, index } = nextHit(search, by);
    const from = this.sources.peek()[source];
    if (!from) return;
    try {
      const names = findNames(from.names, search.text).names;
      const answer = await askHits(this.place, from, names, index);
      if (this.search.peek().text !== search.text || !answer.hit) return;
      this.search.value = { ...this.search.peek(), at };
      this.show(source, answer.hit);
      await this.choose(source, answer.hit.event);
    } catch (fault) {
      this.fault.value = fault;
    }
  }
}
