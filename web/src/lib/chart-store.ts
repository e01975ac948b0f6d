/** The lines of the visible panels: fetched in batches, kept while useful, refreshed when their runs change. */

import { type Signal, signal } from "@preact/signals";
import { ApiError } from "./api";
import { type Answer, type PlotLine, type Range, xExtent } from "./chart-line";
import { type Need, planRequests, type View, viewId } from "./chart-plan";
import type { SeriesRequest } from "./schema";

export interface PanelLines {
  lines: readonly PlotLine[];
  missing: readonly string[];
  loading: boolean;
  /** Nothing has arrived yet: show a skeleton, not "no data". */
  fresh: boolean;
  error: string | null;
}

/** The answer for one view of one panel, by run. */
interface Entry {
  lines: Map<string, PlotLine[]>;
  stale: Set<string>;
  missing: readonly string[];
}

interface Panel {
  out: Signal<PanelLines>;
  entries: Map<string, Entry>;
  want: { view: View; runs: readonly string[] } | null;
  /** Mounted and on the screen. */
  visible: number;
  /** About to be. */
  foreseen: boolean;
  flight: Flight | null;
}

/** One request under way. */
interface Flight {
  view: string;
  runs: string;
  stop: AbortController;
  /** Runs that changed while it was under way: its answer may miss their newest points. */
  late: Set<string>;
}

export type Fetch = (request: SeriesRequest, signal: AbortSignal) => Promise<Answer>;

const BLANK: PanelLines = { lines: [], missing: [], loading: true, fresh: true, error: null };
const ENTRIES_KEPT = 3;
const PANELS_KEPT = 80;
const REST_MS = 8;
const AGAIN_MS = 400;
/** How often lines that grow are asked for: soon while they move by pixels, seldom when nobody could see it. */
const LIVE_MS = 2000;
const LIVE_MOST_MS = 5000;
const LIVE_SLOWER = 1.5;

export class SeriesStore {
  private readonly panels = new Map<string, Panel>();
  /** The whole range of each x-axis seen so far, to know how far one can pan. */
  readonly extents = new Map<string, Range>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = 0;
  private lastFlush = 0;
  private liveMs = LIVE_MS;
  private readonly flights = new Set<Flight>();
  private closed = false;

  constructor(private readonly fetch: Fetch) {}

  private panel(key: string): Panel {
    let panel = this.panels.get(key);
    if (!panel) {
      panel = { out: signal(BLANK), entries: new Map(), want: null, visible: 0, foreseen: false, flight: null };
      this.panels.set(key, panel);
    }
    return panel;
  }

  /** What to draw for a key, now and later. */
  lines(key: string): Signal<PanelLines> {
    return this.panel(key).out;
  }

  /** A panel came onto the screen; the answer takes it off again. */
  show(key: string): () => void {
    const panel = this.panel(key);
    panel.visible++;
    panel.foreseen = false;
    this.schedule(REST_MS);
    return () => {
      panel.visible--;
      this.trim();
    };
  }

  /** Says how a panel is drawn now. What is here already is drawn at once; the rest is asked for. */
  want(key: string, view: View, runs: readonly string[], restMs = REST_MS): void {
    const panel = this.panel(key);
    panel.want = { view, runs };
    this.publish(panel);
    if (panel.visible > 0 && this.lastFlush === 0 && restMs === REST_MS) this.atOnce();
    else if (panel.visible > 0) this.schedule(restMs, restMs > REST_MS);
  }

  /** Asks for what panels that are about to be shown will want. */
  foresee(needs: readonly Need[]): void {
    for (const { key, view, runs } of needs) Object.assign(this.panel(key), { want: { view, runs }, foreseen: true });
    this.ask(needs);
  }

  /** The runs have new points. */
  changed(runs: readonly string[]): void {
    for (const panel of this.panels.values()) {
      for (const entry of panel.entries.values())
        for (const run of runs) if (entry.lines.has(run)) entry.stale.add(run);
    }
    for (const flight of this.flights) for (const run of runs) flight.late.add(run);
    const since = Date.now() - this.lastFlush;
    this.schedule(Math.max(REST_MS, this.liveMs - since));
  }

  /** Tries again after an error, for one panel or for all. */
  retry(key?: string): void {
    for (const [name, panel] of this.panels) {
      if (key !== undefined && name !== key) continue;
      if (panel.out.peek().error) panel.out.value = { ...panel.out.peek(), error: null, loading: true };
    }
    this.schedule(0);
  }

  /** Everything may have changed: what is visible is asked for again, what failed is tried again. */
  refresh(): void {
    for (const panel of this.panels.values())
      for (const entry of panel.entries.values()) for (const run of entry.lines.keys()) entry.stale.add(run);
    this.retry();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const flight of this.flights) flight.stop.abort();
    this.panels.clear();
  }

  /** The first panels of a page are all mounted in one go; a timer would wait until they are painted, empty. */
  private atOnce(): void {
    this.lastFlush = Date.now();
    queueMicrotask(() => this.closed || this.flush());
  }

  /** Asks soon. A sooner time already set stays, unless the wish is still moving (a drag, a slider): then it waits. */
  private schedule(ms: number, moving = false): void {
    if (this.closed || (!moving && this.timer !== undefined && this.due <= Date.now() + ms)) return;
    clearTimeout(this.timer);
    this.due = Date.now() + ms;
    this.timer = setTimeout(() => this.flush(), ms);
  }

  private needOf(key: string, panel: Panel): Need | null {
    if (panel.visible === 0 || !panel.want || panel.out.peek().error) return null;
    const { view, runs } = panel.want;
    const entry = panel.entries.get(viewId(view));
    const missing = runs.filter((run) => !entry?.lines.has(run) || entry.stale.has(run));
    if (missing.length === 0) return null;
    if (panel.flight?.view === viewId(view) && panel.flight.runs === missing.join(",")) return null;
    return { key, view, runs: missing };
  }

  private flush(): void {
    this.timer = undefined;
    this.lastFlush = Date.now();
    const needs = [...this.panels].map(([key, panel]) => this.needOf(key, panel)).filter((n) => n !== null);
    const wanted = new Set(
      [...this.panels.values()].filter((p) => p.visible || p.foreseen).map((p) => (p.want ? viewId(p.want.view) : "")),
    );
    for (const flight of this.flights) if (!wanted.has(flight.view)) flight.stop.abort();
    this.liveMs = Math.min(LIVE_MOST_MS, this.liveMs * LIVE_SLOWER);
    this.ask(needs);
  }

  private ask(needs: readonly Need[]): void {
    const views = new Map(needs.map((need) => [need.key, need.view]));
    for (const request of planRequests(needs)) void this.send(request, views.get(request.keys[0] as string) as View);
  }

  private async send(request: SeriesRequest, view: View): Promise<void> {
    const flight: Flight = {
      view: viewId(view),
      runs: request.runs.join(","),
      stop: new AbortController(),
      late: new Set(),
    };
    this.flights.add(flight);
    for (const key of request.keys) this.depart(key, request.runs, flight);
    let answer: Answer | null = null;
    let fault = "";
    try {
      answer = await this.fetch(request, flight.stop.signal);
    } catch (error) {
      if (!flight.stop.signal.aborted) fault = error instanceof ApiError ? error.message : String(error);
    }
    this.flights.delete(flight);
    if (this.closed) return;
    for (const key of request.keys) {
      const panel = this.panels.get(key);
      if (panel?.flight === flight) panel.flight = null;
    }
    if (answer) this.take(request, view, answer, flight.late);
    else this.failed(request, view, fault);
    this.schedule(answer && !answer.partial ? this.liveMs : AGAIN_MS);
  }

  /** Marked before the request leaves: points that come while it is under way make the lines stale again. */
  private depart(key: string, runs: readonly string[], flight: Flight): void {
    const panel = this.panels.get(key);
    if (!panel) return;
    panel.flight = flight;
    const stale = panel.entries.get(flight.view)?.stale;
    for (const run of runs) stale?.delete(run);
  }

  private take(request: SeriesRequest, view: View, answer: Answer, late: ReadonlySet<string>): void {
    const byKey = new Map<string, PlotLine[]>(request.keys.map((key) => [key, []]));
    for (const line of answer.lines) byKey.get(line.key)?.push(line);
    const answered = answeredRuns(request, answer);
    for (const [key, lines] of byKey) {
      const panel = this.panels.get(key);
      if (!panel) continue;
      const entry = entryOf(panel, viewId(view));
      for (const run of answered) {
        entry.lines.set(run, []);
        if (late.has(run)) entry.stale.add(run);
      }
      for (const line of lines) entry.lines.get(line.run)?.push(line);
      entry.missing = answer.missing.filter((text) => lines.length === 0 || !text.includes(key));
      if (!view.window) this.widen(view, lines);
      this.publish(panel);
    }
  }

  private failed(request: SeriesRequest, view: View, fault: string): void {
    for (const key of request.keys) {
      const panel = this.panels.get(key);
      if (!panel) continue;
      const entry = panel.entries.get(viewId(view));
      for (const run of request.runs) if (entry?.lines.has(run)) entry.stale.add(run);
      if (fault) panel.out.value = { ...panel.out.peek(), loading: false, error: fault };
    }
  }

  private widen({ x, buckets }: View, lines: readonly PlotLine[]): void {
    const found = xExtent(lines);
    if (!found) return;
    const old = this.extents.get(x);
    const wide: Range = old ? [Math.min(old[0], found[0]), Math.max(old[1], found[1])] : found;
    this.extents.set(x, wide);
    const pixels = old ? (buckets * (wide[1] - old[1])) / (wide[1] - wide[0] || 1) : buckets;
    if (pixels >= 1) this.liveMs = LIVE_MS;
  }

  /** Draws the wanted view when any of it is here; until then the last one stays, so that nothing flickers. */
  private publish(panel: Panel): void {
    if (!panel.want) return;
    const { view, runs } = panel.want;
    const entry = panel.entries.get(viewId(view));
    const complete = runs.every((run) => entry?.lines.has(run));
    if (!entry || (!complete && entry.lines.size === 0)) {
      const old = panel.out.peek();
      if (!old.loading || runs.length === 0)
        panel.out.value = { ...old, loading: runs.length > 0, fresh: old.fresh && runs.length > 0 };
      return;
    }
    panel.out.value = {
      lines: runs.flatMap((run) => entry.lines.get(run) ?? []),
      missing: entry.missing,
      loading: !complete,
      fresh: false,
      error: null,
    };
  }

  /** Forgets what left the screen long ago. */
  private trim(): void {
    if (this.panels.size <= PANELS_KEPT) return;
    for (const [key, panel] of this.panels) {
      if (this.panels.size <= PANELS_KEPT) return;
      if (panel.visible === 0) this.panels.delete(key);
    }
  }
}

/** A partial answer has the first runs of the request; the others are asked for again. */
function answeredRuns(request: SeriesRequest, answer: Answer): readonly string[] {
  if (!answer.partial) return request.runs;
  const last = answer.lines.at(-1)?.run;
  return request.runs.slice(0, last === undefined ? 0 : request.runs.indexOf(last) + 1);
}

function entryOf(panel: Panel, id: string): Entry {
  const entry = panel.entries.get(id) ?? { lines: new Map(), stale: new Set(), missing: [] };
  panel.entries.delete(id); // Put back at the end: the first in the map is the one unused for longest.
  panel.entries.set(id, entry);
  for (const old of panel.entries.keys()) {
    if (panel.entries.size <= ENTRIES_KEPT) break;
    panel.entries.delete(old);
  }
  return entry;
}
