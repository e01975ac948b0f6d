/**
 * What every view of the parameters needs from around it: the runs, the brushes all views share, who is under the
 * mouse.
 */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Brush, type Brushes, countPassing, NO_BRUSH, passing, withBrush } from "../../lib/param-brush";
import { ramp } from "../../lib/param-ramp";
import { canLog, type ParamScale, scaleOf } from "../../lib/param-scale";
import { usualAxes } from "../../lib/param-strength";
import { columnOfKey, type ParamColumn, type ParamTable, ranking, shades } from "../../lib/param-table";
import { isDark } from "../../theme";

export interface ScopeSettings {
  brushes: Signal<Brushes>;
  /** The axes in order; none for the usual ones. */
  axes: Signal<string[]>;
  /** Columns whose scale is not the one the server judged best. */
  flipped: Signal<string[]>;
}

const DIMS = 6;

export class ParamScope {
  readonly hover = signal(-1);
  /** Brushes while one is being drawn; the address has them when it is let go. */
  readonly draft = signal<Brushes | null>(null);
  readonly brushes: ReadonlySignal<Brushes>;
  readonly passing: ReadonlySignal<Uint8Array>;
  readonly kept: ReadonlySignal<number>;
  readonly shades: ReadonlySignal<Uint8Array>;
  readonly ramp: ReadonlySignal<string[]>;
  readonly axes: ReadonlySignal<ParamColumn[]>;
  /** Of the scatter matrix: the first few axes, the metric always among them. */
  readonly dims: ReadonlySignal<ParamColumn[]>;
  /** Runs from the best to the worst. */
  readonly ranking: ReadonlySignal<Int32Array>;
  readonly brushed: ReadonlySignal<boolean>;
  private readonly scales = new WeakMap<ParamColumn, Map<boolean, ParamScale>>();

  constructor(
    readonly table: ReadonlySignal<ParamTable>,
    readonly settings: ScopeSettings,
  ) {
    this.brushes = computed(() => this.draft.value ?? settings.brushes.value);
    this.passing = computed(() => passing(table.value, this.brushes.value));
    this.kept = computed(() => countPassing(this.passing.value));
    this.brushed = computed(() => Object.keys(this.brushes.value).some((key) => table.value.byKey.has(key)));
    this.shades = computed(() => {
      const { metric, goal, size } = table.value;
      return shades(metric, goal, size);
    });
    this.ramp = computed(() => ramp(isDark.value));
    this.axes = computed(() => this.columnsOf(settings.axes.value.length ? settings.axes.value : this.usual()));
    this.dims = computed(() => {
      const { metric } = table.value;
      // The last ones stand beside the metric: those that matter most, unless a person moved them.
      const others = this.axes.value.filter((column) => column !== metric).slice(-(DIMS - (metric ? 1 : 0)));
      return metric ? [...others, metric] : others;
    });
    this.ranking = computed(() => {
      const { metric, goal, size } = table.value;
      return metric ? ranking(metric, goal) : Int32Array.from({ length: size }, (_, at) => at);
    });
  }

  private columnsOf(keys: readonly string[]): ParamColumn[] {
    const found = keys.map((key) => columnOfKey(this.table.value, key)).filter((column) => column !== undefined);
    return [...new Set(found)];
  }

  private settled: { of: string; keys: string[] } = { of: "", keys: [] };

  /** The usual axes; while runs come in they stay where they are as long as the columns and the metric do. */
  private usual(): string[] {
    const table = this.table.value;
    const of = [table.metric?.key, ...table.columns.map((column) => column.key)].sort().join("\n");
    if (this.settled.of !== of) this.settled = { of, keys: usualAxes(table) };
    return this.settled.keys;
  }

  isLog(column: ParamColumn): boolean {
    return canLog(column) && column.log !== this.settings.flipped.value.includes(column.key);
  }

  scale(column: ParamColumn): ParamScale {
    const log = this.isLog(column);
    let made = this.scales.get(column);
    if (!made) this.scales.set(column, (made = new Map()));
    let found = made.get(log);
    if (!found) made.set(log, (found = scaleOf(column, log)));
    return found;
  }

  flip(column: ParamColumn): void {
    const { flipped } = this.settings;
    flipped.value = flipped.peek().includes(column.key)
      ? flipped.peek().filter((key) => key !== column.key)
      : [...flipped.peek(), column.key];
  }

  brushOf(key: string): Brush {
    return this.brushes.value[key] ?? NO_BRUSH;
  }

  /** Shows a brush that is being drawn. */
  sketch(next: Brushes): void {
    let all = this.settings.brushes.peek();
    for (const [key, brush] of Object.entries(next)) all = withBrush(all, key, brush);
    this.draft.value = all;
  }

  /** Keeps what was drawn. */
  settle(): void {
    const drawn = this.draft.peek();
    this.draft.value = null;
    if (drawn) this.settings.brushes.value = drawn;
  }

  brush(key: string, brush: Brush): void {
    this.settings.brushes.value = withBrush(this.settings.brushes.peek(), key, brush);
  }

  setAxes(keys: readonly string[]): void {
    this.settings.axes.value = [...keys];
  }

  moveAxis(key: string, to: number): void {
    const keys = this.axes.peek().map((column) => column.key);
    const rest = keys.filter((other) => other !== key);
    rest.splice(Math.max(0, Math.min(rest.length, to)), 0, key);
    if (rest.join("\n") !== keys.join("\n")) this.setAxes(rest);
  }

  /** Ids of the runs that the brushes keep, the best first. */
  keptIds(most = Number.POSITIVE_INFINITY): string[] {
    const { ids } = this.table.peek();
    const found: string[] = [];
    for (const run of this.ranking.peek()) {
      if (found.length >= most) break;
      if (this.passing.peek()[run]) found.push(ids[run] as string);
    }
    return found;
  }

  colourOf(run: number, none: string): string {
    const shade = this.shades.value[run] as number;
    return shade === 255 ? none : (this.ramp.value[shade] as string);
  }
}

/** Settings of a panel that stands alone, in a report for instance. */
export function ownSettings(axes: string[] = []): ScopeSettings {
  return { brushes: signal<Brushes>({}), axes: signal(axes), flipped: signal<string[]>([]) };
}
