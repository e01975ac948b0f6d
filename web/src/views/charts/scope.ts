/** What charts need from around them: which runs, how drawn, the lines, who is under the mouse. One for each board. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ApiError, call, callBytes, isServed } from "../../lib/api";
import { isGroup, type LineGroup, lineGroups, withGroups } from "../../lib/chart-groups";
import { type Answer, answerOf, type Range } from "../../lib/chart-line";
import { searchFor } from "../../lib/chart-search";
import { panelId, pinnedPanels, sections } from "../../lib/chart-sections";
import { SeriesStore } from "../../lib/chart-store";
import { unpackLines } from "../../lib/line-bytes";
import { onLive } from "../../lib/live";
import type { Live, PanelInfo, SeriesRequest } from "../../lib/schema";
import { known, remember, rememberGroups } from "../../state";
import type { ChartSettings } from "./settings";

const MOST_DRAWN = 100;
const PANELS_REST_MS = 2500;
const PULSE_MS = 1000;
const NOBODY: ReadonlySignal<ReadonlySet<string>> = signal(new Set<string>());

/** What one panel of a section with a common y-range would show by itself. */
export interface Fit {
  section: string;
  log: boolean;
  y: Range;
}

export interface ScopeOptions {
  /** Runs whose eye is closed. */
  hidden?: ReadonlySignal<ReadonlySet<string>>;
  /** Which of the runs' panels belong here; all by default. */
  accept?: (info: PanelInfo) => boolean;
  /** Which of them, in which sections, in which order; instead of `accept`. */
  arrange?: (panels: readonly PanelInfo[]) => PanelInfo[];
  /** Automatic panels that are not shown among the others: they stand in a section of one's own, or are hidden. */
  taken?: ReadonlySignal<ReadonlySet<string>>;
  /** Called when it is known for the first time which panels there are, before they are built. */
  onFirst?: (scope: ChartScope) => void;
  /** One panel, whose list of panels is given and not asked for. */
  alone?: boolean;
}

let made = 0;

export class ChartScope {
  readonly id = `chart-scope-${++made}`;
  /** Draw all runs, however many. */
  readonly drawAll = signal(false);
  /** The run under the mouse in a list: the others fade. On a chart the nearest line is only made stronger. */
  readonly spotlit = signal<string | null>(null);
  readonly panels = signal<PanelInfo[] | null>(null);
  readonly fault = signal<ApiError | null>(null);
  /** Grows when the runs got new data, at most once a second; media panels look again. */
  readonly pulse = signal(0);
  readonly store = new SeriesStore((request, stop) => this.fetchLines(request, stop));
  /** What runs are grouped into, while they are; null until it is known. */
  readonly groups = signal<readonly LineGroup[] | null>(null);
  /** By the panel's key; only of panels on the screen, in sections that are linked. */
  readonly fits = signal<ReadonlyMap<string, Fit>>(new Map());

  private readonly open = computed(() => {
    const hidden = (this.options.hidden ?? NOBODY).value;
    const runs = this.runs.value.filter((id) => !hidden.has(id));
    const pinned = this.settings.pinnedRun.value;
    return runs.includes(pinned) ? [pinned, ...runs.filter((id) => id !== pinned)] : runs;
  });
  /** The runs whose lines are drawn: eyes open, and not more than the eye can tell apart. */
  readonly drawnRuns = computed(() => (this.drawAll.value ? this.open.value : this.open.value.slice(0, MOST_DRAWN)));
  readonly leftOut = computed(() => this.open.value.length - this.drawnRuns.value.length);

  /** Whose lines are drawn: runs, or groups of them. */
  readonly drawn = computed<readonly string[]>(() =>
    this.settings.by.value.length ? (this.groups.value ?? []).map((group) => group.id) : this.drawnRuns.value,
  );

  readonly search = computed(() => searchFor(this.settings.find.value, this.settings.regex.value));
  private readonly matching = computed(() => {
    const { matches } = this.search.value;
    return (this.panels.value ?? []).filter((p) => matches(p.key));
  });
  readonly pinnedInfos = computed(() => pinnedPanels(this.matching.value, this.settings.pins.value));
  readonly sectionList = computed(() => {
    const elsewhere = new Set([...this.settings.pins.value, ...(this.options.taken ?? NOBODY).value]);
    return sections(this.matching.value.filter((p) => !elsewhere.has(panelId(p))));
  });
  readonly matched = computed(() => this.matching.value.length);
  /** Metrics that can be an x-axis. */
  readonly scalarKeys = computed(() => (this.panels.value ?? []).filter((p) => p.kind === "scalar").map((p) => p.key));

  /** Nothing to pin it above, nothing to find it among. */
  get alone(): boolean {
    return this.options.alone ?? false;
  }

  /** Its panels can be dragged, sized and put into sections of one's own. */
  get arranged(): boolean {
    return this.options.taken !== undefined;
  }

  private panelsAsked = 0;
  private panelsFlight = "";
  private panelsAgain = false;

  constructor(
    readonly runs: ReadonlySignal<readonly string[]>,
    readonly settings: ChartSettings,
    private readonly options: ScopeOptions = {},
  ) {}

  /** Which panels the runs have. A late answer to an older question is dropped. */
  async loadPanels(news = false): Promise<void> {
    const runs = this.runs.peek();
    if (this.panelsFlight !== "" && this.panelsFlight === runs.join()) {
      this.panelsAgain ||= news; // asked, and the answer is on its way; it may have been made before the news
      return;
    }
    const asked = ++this.panelsAsked;
    this.panelsAgain = false;
    this.panelsFlight = runs.join();
    if (runs.length === 0) {
      this.panels.value = [];
      return;
    }
    const answer = await this.guarded(call("POST /api/panels", { runs: [...runs] })).finally(() => {
      if (asked === this.panelsAsked) this.panelsFlight = "";
    });
    if (asked !== this.panelsAsked) return;
    if (this.panelsAgain) void this.loadPanels();
    if (!answer) return;
    const { accept, arrange } = this.options;
    const here = arrange ? arrange(answer.panels) : accept ? answer.panels.filter(accept) : answer.panels;
    if (JSON.stringify(here) === JSON.stringify(this.panels.peek())) return;
    const first = this.panels.peek() === null;
    this.panels.value = here;
    if (first) this.options.onFirst?.(this);
  }

  private async fetchLines(request: SeriesRequest, stop: AbortSignal): Promise<Answer> {
    if (!request.runs.some(isGroup)) {
      if (!isServed()) return answerOf(await call("POST /api/series", request, { signal: stop }));
      return unpackLines(await callBytes("POST /api/lines", request, { signal: stop }));
    }
    const groups = (this.groups.peek() ?? []).filter((group) => request.runs.includes(group.id));
    const { keys, x, lo, hi, buckets, smoothing } = request;
    const asked = {
      groups: groups.map(({ id, runs }) => ({ id, runs: [...runs] })),
      keys,
      x,
      lo,
      hi,
      buckets,
      smoothing,
      spread: this.settings.spread.peek(),
    };
    return answerOf(await call("POST /api/compare/lines", asked, { signal: stop }));
  }

  private followers = 0;
  private stopGroups = (): void => undefined;

  /** Keeps the groups right while a panel is on the screen; returns how to stop. */
  followGroups(): () => void {
    if (this.followers++ === 0)
      this.stopGroups = effect(() => void this.loadGroups(this.drawnRuns.value, this.settings.by.value));
    return () => {
      if (--this.followers === 0) this.stopGroups();
    };
  }

  private groupsAsked = 0;
  private async loadGroups(runs: readonly string[], by: readonly string[]): Promise<void> {
    const asked = ++this.groupsAsked;
    if (by.length === 0 || runs.length === 0) {
      this.groups.value = by.length === 0 ? null : [];
      return;
    }
    const answer = await this.guarded(call("POST /api/compare/columns", { runs: [...runs], by: [...by] }));
    if (asked !== this.groupsAsked) return;
    const groups = lineGroups(answer?.columns ?? []);
    rememberGroups(groups);
    this.groups.value = groups;
  }

  /** Whose colour a run has: its own, or its group's. */
  colourId(run: string): string {
    return (this.settings.by.value.length && this.groups.value?.find((group) => group.runs.includes(run))?.id) || run;
  }

  /** An answer, or null and the reason in `fault`. */
  async guarded<T>(work: Promise<T>): Promise<T | null> {
    try {
      const answer = await work;
      this.fault.value = null;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault.value = error;
      return null;
    }
  }

  /** Follows live events until told to stop; `panels` says whether new panels are looked for too. */
  followLive(panels = true): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let beat: ReturnType<typeof setTimeout> | undefined;
    let missed = false;
    const onLook = () => {
      if (missed && !document.hidden) this.catchUp();
      missed &&= document.hidden;
    };
    document.addEventListener("visibilitychange", onLook);
    const stop = onLive((event) => {
      const here = new Set(this.runs.peek());
      const ours = event.changed.filter((change) => here.has(change.id));
      if (ours.length === 0) return;
      restate(ours);
      if (document.hidden) {
        missed = true;
        return;
      }
      this.store.changed(
        withGroups(
          ours.map((change) => change.id),
          this.groups.peek() ?? [],
        ),
      );
      beat ??= setTimeout(() => {
        beat = undefined;
        this.pulse.value++;
      }, PULSE_MS);
      if (!panels) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void this.loadPanels(true);
      }, PANELS_REST_MS);
    });
    return () => {
      clearTimeout(timer);
      clearTimeout(beat);
      stop();
    };
  }

  /** Looks at everything again: the page was away, or the server was, and may have missed what happened. */
  catchUp(): void {
    this.store.refresh();
    this.pulse.value++;
    if (!this.alone && (this.panels.peek() !== null || this.fault.peek())) void this.loadPanels();
  }

  close(): void {
    this.store.close();
  }
}

/** Takes the new status of runs that are known already. */
function restate(changes: Live["changed"]): void {
  const rows = changes.flatMap((change) => {
    const row = known.peek().get(change.id);
    return row && row.status !== change.status
      ? [{ ...row, status: change.status as typeof row.status, version: change.version }]
      : [];
  });
  remember(rows);
}

export const ScopeContext = createContext<ChartScope | null>(null);

/** The scope around a chart. */
export function useScope(): ChartScope {
  const scope = useContext(ScopeContext);
  if (!scope) throw new Error("a chart was drawn outside of any ChartScope");
  return scope;
}
