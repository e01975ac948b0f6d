/** A Vega-Lite chart that fills its panel. It can fetch nothing and evaluate no code: only the data it is given. */

import { useEffect, useRef, useState } from "preact/hooks";
import { parse, type Loader, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import { type Inks, readInks } from "../../charts/inks";
import { call } from "../../lib/api";
import { PALETTE } from "../../lib/colour";
import { type PointLine, pointRows, readySpec, type Row, runRows, unknownField } from "../../lib/vega-rows";
import { isDark } from "../../theme";
import { nameOf } from "../../state";
import { useSize } from "../../views/charts/visible";
import { Asked } from "./asked";

const BUCKETS = 400;
const MOST_COLUMNS = 100;

const refuse = (): Promise<never> =>
  Promise.reject(
    new Error("A panel fetches nothing: use the data named “runs” or “points”, or values in the specification."),
  );
const NOTHING: Loader = {
  load: refuse,
  sanitize: refuse,
  http: refuse,
  file: refuse,
  options: {},
} as unknown as Loader;

export interface VegaFigureProps {
  runs: readonly string[];
  spec: string;
  keys: readonly string[];
}

type Data = Record<"runs" | "points", Row[]>;

async function ask({ runs, keys }: VegaFigureProps, stop: AbortSignal): Promise<Data> {
  const signal = { signal: stop };
  const known = await call("POST /api/columns", { runs: [...runs] }, signal);
  const columns = known.columns.map((column) => column.key).slice(0, MOST_COLUMNS);
  const page = await call("POST /api/runs", { runs: [...runs], columns, limit: runs.length, archived: true }, signal);
  const lines: readonly PointLine[] = keys.length
    ? (await call("POST /api/series", { runs: [...runs], keys: [...keys], buckets: BUCKETS }, signal)).lines
    : [];
  return { runs: runRows(page, columns), points: pointRows(lines, nameOf) };
}

export function VegaFigure(props: VegaFigureProps) {
  return (
    <Asked
      question={JSON.stringify([props.keys, props.runs])}
      runs={props.runs}
      height={200}
      ask={(stop) => ask(props, stop)}
    >
      {(data) => <Drawn spec={props.spec} data={data} />}
    </Asked>
  );
}

function Drawn({ spec, data }: { spec: string; data: Data }) {
  const host = useRef<HTMLDivElement>(null);
  const size = useSize(host);
  const [fault, setFault] = useState("");
  const dark = isDark.value;
  useEffect(() => {
    if (!size || !host.current) return;
    const place = host.current.firstElementChild as HTMLElement;
    let view: View | null = null;
    const faults: string[] = [];
    try {
      const ready = readySpec(spec, data, size);
      view = viewOf(ready, place, readInks(), faults);
      const unknown = unknownField(ready, data);
      if (unknown) faults.push(unknown);
      view.runAsync().then(
        () => setFault(faults[0] ?? ""),
        (error: unknown) => setFault(wordsOf(error)),
      );
    } catch (error) {
      setFault(wordsOf(error));
    }
    return () => {
      view?.finalize();
      place.replaceChildren();
    };
  }, [spec, data, size?.width, size?.height, dark]);
  return (
    <div ref={host} class="anchor clipped vega-figure">
      <div />
      {fault ? (
        <p class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
          {fault}
        </p>
      ) : null}
    </div>
  );
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 400);

function viewOf(spec: Record<string, unknown>, place: HTMLElement, inks: Inks, faults: string[]): View {
  // What could not be loaded is only a warning to Vega; here it is why the panel is empty.
  const keep = (words: readonly unknown[]) =>
    void (String(words[0]).startsWith("Loading failed") && faults.push(words.slice(2).map(wordsOf).join(" ")));
  const logger = {
    level: () => logger,
    error: (...words: unknown[]) => (faults.push(words.map(wordsOf).join(" ")), logger),
    warn: (...words: unknown[]) => (keep(words), logger),
    info: () => logger,
    debug: () => logger,
  };
  const { spec: compiled } = compile(spec as never, { config: themeOf(inks), logger: logger as never });
  if (faults[0]) throw new Error(faults[0]);
  const runtime = parse(compiled, undefined, { ast: true });
  return new View(runtime, {
    expr: expressionInterpreter,
    renderer: "canvas",
    container: place,
    loader: NOTHING,
    logger: logger as never,
    hover: true,
  });
}

/** The page's own colours, in both themes. */
function themeOf(inks: Inks): object {
  const axis = {
    labelColor: inks.quiet,
    titleColor: inks.text,
    gridColor: inks.grid,
    domainColor: inks.line,
    tickColor: inks.line,
    labelFont: inks.font,
    titleFont: inks.font,
    titleFontWeight: "normal",
  };
  return {
    background: "transparent",
    font: inks.font,
    view: { stroke: null },
    axis,
    legend: axis,
    header: axis,
    range: { category: PALETTE.map((ink) => (isDark.peek() ? ink.dark : ink.light)) },
    title: { color: inks.text },
    mark: { color: inks.accent },
  };
}
