/**
 * The layers of some runs, one row each: weights, gradients and activations side by side, or one of them for each run.
 */

import { useEffect, useState } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { useAsker } from "../../components/use-asker";
import { ApiError, call, isAbort } from "../../lib/api";
import { arrange, gravest, type Range, rangeOf } from "../../lib/distributions";
import { count, visibleText } from "../../lib/format";
import { onLive } from "../../lib/live";
import type { DistributionCell, DistributionLayer, Distributions } from "../../lib/schema";
import { inkOfRun, meet, nameOf } from "../../state";
import "../../style/distributions.css";
import { DistributionBar } from "./bar";
import { OneStep } from "./one-step";
import { NoHistograms } from "./empty";
import { DistributionPanel } from "./panel";
import * as settings from "./settings";

const REST_MS = 2000;
const MOST_RUNS = 24;

export interface Column {
  key: string;
  label: string;
  run: string;
  family: string;
}

export function DistributionBoard({ runs }: { runs: readonly string[] }) {
  const asked = runs.slice(0, MOST_RUNS);
  const { data, fault, beat, retry } = useDistributions(asked);
  if (fault && !data) return <ErrorState error={fault} onRetry={retry} />;
  if (!data) return <Waiting />;
  if (data.layers.length === 0) return <NoHistograms runs={asked} />;
  return <Board data={data} runs={asked} left={runs.length - asked.length} beat={beat} />;
}

function Board({
  data,
  runs,
  left,
  beat,
}: {
  data: Distributions;
  runs: readonly string[];
  left: number;
  beat: number;
}) {
  const there = runs.filter((run) => data.layers.some((layer) => layer.cells.some((cell) => cell.run === run)));
  const columns = columnsOf(data, there);
  const shown = (cell: DistributionCell) => columns.some((column) => fits(cell, column));
  const layers = arrange(data.layers, settings.search.value, settings.order.value, shown);
  const shared = new Map(
    columns.map((column) => [
      column.key,
      rangeOf(layers.flatMap((layer) => layer.cells.filter((cell) => fits(cell, column)))),
    ]),
  );
  const open = settings.opened.value;
  const opened = open.length === 2 && there.includes(open[0] as string) ? open : null;
  return (
    <div class="page dist" data-open={opened !== null || undefined}>
      <DistributionBar
        data={data}
        runs={there}
        shown={layers.length}
        without={runs.length - there.length}
        sound={layers.every((layer) => gravest(layer.cells.filter(shown)) === null)}
      />
      <div class="fill-down dist-body">
        <div class="scroll shrinks dist-scroll charts-scroll" tabIndex={0} role="region" aria-label="Layers">
          <div
            class="dist-grid"
            role="table"
            aria-label="Histograms of layers"
            style={{ "--columns": String(columns.length) }}
          >
            <div class="soft small strong under dist-head" role="row">
              <span role="columnheader">Layer</span>
              {columns.map((column) => (
                <span key={column.key} role="columnheader" class="ellipsis">
                  {settings.across.value === "runs" && there.length > 1 ? (
                    <span class="ink" style={inkOfRun(column.run)} />
                  ) : null}
                  <span class="isolate ellipsis">{visibleText(column.label)}</span>
                </span>
              ))}
            </div>
            {layers.map((layer) => (
              <Row key={layer.name} layer={layer} columns={columns} shared={shared} beat={beat} />
            ))}
          </div>
          {layers.length === 0 ? (
            <p class="none">No layer has “{visibleText(settings.search.value)}” in its name.</p>
          ) : null}
          {data.omitted + left > 0 ? <p class="none">{leftOut(data.omitted, left)}</p> : null}
        </div>
        {opened ? <OneStep run={opened[0] as string} name={opened[1] as string} beat={beat} /> : null}
      </div>
    </div>
  );
}

function leftOut(layers: number, runs: number): string {
  const words = [layers > 0 ? count(layers, "more layer") : "", runs > 0 ? count(runs, "more run") : ""]
    .filter(Boolean)
    .join(" and ");
  return `${words} not shown.`;
}

function columnsOf(data: Distributions, runs: readonly string[]): Column[] {
  if (runs.length > 1 && settings.across.value === "runs") {
    const family = data.families.includes(settings.family.value)
      ? settings.family.value
      : (data.families[0] ?? "values");
    return runs.map((run) => ({ key: run, label: nameOf(run), run, family }));
  }
  const run = runs.includes(settings.oneRun.value) ? settings.oneRun.value : (runs[0] ?? "");
  return data.families.map((family) => ({
    key: family,
    label: family[0]?.toUpperCase() + family.slice(1),
    run,
    family,
  }));
}

const fits = (cell: DistributionCell, column: Column): boolean =>
  cell.run === column.run && cell.family === column.family;

interface RowProps {
  layer: DistributionLayer;
  columns: readonly Column[];
  shared: ReadonlyMap<string, Range | null>;
  beat: number;
}

function Row({ layer, columns, shared, beat }: RowProps) {
  const cells = columns.map((column) => layer.cells.find((cell) => fits(cell, column)));
  const across = rangeOf(cells.filter((cell) => cell !== undefined));
  const rangeFor = (column: Column): Range | null =>
    settings.range.value === "own" ? null : settings.range.value === "row" ? across : (shared.get(column.key) ?? null);
  return (
    <div class="dist-row" role="row" data-layer={layer.name}>
      <div class="vstack gap-1 clipped anywhere dist-name" role="rowheader">
        <span class="isolate">{breakable(visibleText(layer.name))}</span>
        <Stands layer={layer} cells={cells} />
      </div>
      {columns.map((column, at) => {
        const cell = cells[at];
        return (
          <div key={column.key} role="cell" class="dist-cell">
            {cell ? (
              <DistributionPanel
                run={cell.run}
                name={cell.key}
                mode={settings.mode.value}
                cell={cell}
                range={rangeFor(column)}
                logCounts={settings.logCounts.value}
                step={settings.linkedStep()}
                beat={beat}
                onPick={(step) => {
                  settings.step.value = step;
                  settings.opened.value = [cell.run, cell.key];
                }}
              />
            ) : (
              <span class="none dist-nothing">not logged</span>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** The number that the order goes by. */
function Stands({ cells }: { layer: DistributionLayer; cells: readonly (DistributionCell | undefined)[] }) {
  const there = cells.filter((cell) => cell !== undefined);
  const most = (of: (cell: DistributionCell) => number | null) => Math.max(...there.map((cell) => of(cell) ?? 0));
  const order = settings.order.value;
  if (order === "wrong") {
    const wrong = gravest(there);
    return wrong ? (
      <small class="dist-wrong" data-grade={wrong.grade}>
        {wrong.words}
      </small>
    ) : null;
  }
  if (order === "moved") return <small>moved {most((cell) => cell.moved).toFixed(2)} sd</small>;
  if (order === "wide") return <small>sd {most((cell) => cell.std).toPrecision(3)}</small>;
  if (order === "stuck") return <small>{Math.round(most((cell) => cell.stuck) * 100)}% in two bins</small>;
  if (order === "bad")
    return (
      <small>
        {count(
          most((cell) => cell.bad),
          "NaN or ∞",
          "NaN or ∞",
        )}
      </small>
    );
  return null;
}

/** Long dotted names may break after a dot or a slash. */
function breakable(name: string) {
  return name.split(/(?<=[./])/).flatMap((part, at) => (at ? [<wbr key={at} />, part] : [part]));
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width="40%" height={20} />
      <Skeleton width="90%" height={150} />
      <Skeleton width="90%" height={150} />
    </div>
  );
}

/** The list of layers, asked for again (at most every two seconds) when one of its runs has news. */
function useDistributions(runs: readonly string[]): {
  data: Distributions | null;
  fault: unknown;
  beat: number;
  retry(): void;
} {
  const [data, setData] = useState<Distributions | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [beat, setBeat] = useState(0);
  const ids = runs.join(" ");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onLive((event) => {
      const wanted = ids.split(" ");
      if (timer || !event.changed.some((one) => wanted.includes(one.id))) return;
      timer = setTimeout(() => ((timer = undefined), setBeat((old) => old + 1)), REST_MS);
    });
    return () => (stop(), clearTimeout(timer));
  }, [ids]);
  const asker = useAsker();
  useEffect(() => {
    const asked = ids.split(" ").filter(Boolean);
    meet(asked).catch(() => undefined);
    void asker.ask(ids, (stop) =>
      call("POST /api/distributions", { runs: asked }, { signal: stop }).then(
        (answer) => (setData(answer), setFault(null)),
        (error: unknown) => isAbort(error) || setFault(error instanceof ApiError ? error : new Error(String(error))),
      ),
    );
  }, [ids, beat]);
  return { data, fault, beat, retry: () => setBeat((old) => old + 1) };
}
