/** A shared file answers its panels itself: from what was packed into it, by route and request. */

import type { Source } from "./api";
import { lineFor, type PackedLine } from "./report-lines";
import type { ReportBlock } from "./report-blocks";
import type {
  GroupLinesRequest,
  MediaData,
  MediaItem,
  MediaRequest,
  Panels,
  Problem,
  RunRow,
  RunsPage,
  RunsRequest,
  SeriesData,
  SeriesRequest,
} from "./schema";

export interface PackedAnswer {
  route: string;
  /** The fields that matter; a call matches when it agrees in all of them. */
  request: Record<string, unknown>;
  answer: unknown;
}

export interface PackedMedia {
  run: string;
  key: string;
  /** Those that are in the file. */
  steps: number[];
  items: MediaItem[];
}

export interface Pack {
  format: number;
  title: string;
  made: number;
  stepscope: string;
  version: number;
  author: string;
  project: string;
  blocks: ReportBlock[];
  runs: RunRow[];
  answers: PackedAnswer[];
  lines: PackedLine[];
  media: PackedMedia[];
  /** The bytes of media as `data:` addresses, by `<run>/<hash>`. */
  blobs: Record<string, string>;
  left_out: string[];
}

/** Reads what a page carries: JSON, or JSON that was deflated and written in base64. */
export async function readPack(text: string, encoding: string): Promise<Pack> {
  if (encoding !== "deflate-base64") return JSON.parse(text) as Pack;
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(plain).text()) as Pack;
}

/** Equal as JSON; lists of runs whatever their order. */
function agrees(name: string, packed: unknown, asked: unknown): boolean {
  const plain = (value: unknown): string =>
    canonical(name === "runs" && Array.isArray(value) ? [...value].sort() : value);
  return plain(packed) === plain(asked);
}

/** JSON with its names in order; what is null or missing is left out, as the server's defaults are. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const parts = Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`);
  return `{${parts.join(",")}}`;
}

/** Where calls are answered from while the page is a file. */
export function packSource(pack: Pack): Source {
  return async (route, request) => {
    const asked = (request ?? {}) as Record<string, unknown>;
    const found = recorded(pack, route, asked) ?? made(pack, route, asked);
    return found === undefined
      ? refusal(route)
      : new Response(JSON.stringify(found), { headers: { "Content-Type": "application/json" } });
  };
}

function recorded(pack: Pack, route: string, asked: Record<string, unknown>): unknown {
  const fits = pack.answers.filter(
    (one) =>
      one.route === route && Object.entries(one.request).every(([name, value]) => agrees(name, value, asked[name])),
  );
  const [best] = fits.sort((a, b) => Object.keys(b.request).length - Object.keys(a.request).length);
  return best?.answer;
}

/** Routes in which people move: their answers are made from what the file has. */
function made(pack: Pack, route: string, asked: Record<string, unknown>): unknown {
  switch (route) {
    case "POST /api/series":
      return seriesOf(pack, asked as unknown as SeriesRequest);
    case "POST /api/compare/lines":
      return groupLinesOf(pack, asked as unknown as GroupLinesRequest);
    case "POST /api/media":
      return mediaOf(pack, asked as unknown as MediaRequest);
    case "POST /api/runs":
      return runsOf(pack, asked as RunsRequest);
    case "POST /api/panels":
      return panelsOf(pack, asked as { runs: string[] });
    default:
      return undefined;
  }
}

function refusal(route: string): Response {
  const problem: Problem = {
    error: `This file does not contain the data of ${route.split(" ")[1]}.`,
    hint: "Open the report in the app, or make the file again.",
    position: null,
    id: null,
  };
  return new Response(JSON.stringify(problem), { status: 404 });
}

export function seriesOf(pack: Pack, request: SeriesRequest): SeriesData {
  const lines = pack.lines.filter((line) => request.runs.includes(line.run) && request.keys.includes(line.key));
  const drawn = new Map<string, NonNullable<ReturnType<typeof lineFor>>>();
  for (const packed of lines) {
    const line = lineFor(packed, request);
    // The same series may be there over two axes: the first that fits is drawn.
    if (line && !drawn.has(`${line.run}\n${line.key}`)) drawn.set(`${line.run}\n${line.key}`, line);
  }
  const missing =
    lines.length > 0 && drawn.size === 0
      ? [`this file has no ${request.x ?? "step"} axis for ${request.keys.join(", ")}`]
      : [];
  return { lines: [...drawn.values()], missing, partial: false };
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/**
 * The mean and the band of groups of runs. The file knows a group by its runs; the page calls it by a name of its own.
 */
export function groupLinesOf(pack: Pack, request: GroupLinesRequest): SeriesData {
  const lines = request.groups.flatMap((group) =>
    request.keys.flatMap((key) => {
      const mine = pack.lines.filter((line) => line.group && line.key === key && sameSet(line.group, group.runs));
      const drawn = mine.map((line) => lineFor(line, { ...request, runs: [] })).find((line) => line !== null);
      return drawn ? [{ ...drawn, run: group.id }] : [];
    }),
  );
  return { lines, missing: [], partial: false };
}

/** Each run's items at its newest step at or before the one that is asked for. */
export function mediaOf(pack: Pack, request: MediaRequest): MediaData {
  const found = pack.media.filter((one) => one.key === request.key && request.runs.includes(one.run));
  const at = ({ steps }: PackedMedia): number =>
    steps.reduce(
      (best, step) => (step <= (request.step ?? Number.POSITIVE_INFINITY) && step > best ? step : best),
      Number.NEGATIVE_INFINITY,
    );
  return {
    items: found.flatMap((one) =>
      one.items.filter((item) => item.step === at(one)).map((item) => ({ ...item, url: addressOf(pack, item.url) })),
    ),
    steps: found.map(({ run, steps }) => ({ run, steps })),
  };
}

/** `/api/blob/<run>/<hash>` as the bytes themselves. */
function addressOf(pack: Pack, url: string | null): string | null {
  const name = url?.replace(/^\/api\/blob\//, "");
  return name === undefined || name === url ? url : (pack.blobs[name] ?? null);
}

/** Only names and colours: a table's own columns are recorded answers. */
function runsOf(pack: Pack, request: RunsRequest): RunsPage {
  const asked = new Set((request.query ?? "").match(/"([^"\\]+)"/g)?.map((quoted) => quoted.slice(1, -1)));
  const rows = pack.runs
    .filter((row) => asked.has(row.id))
    .map((row) => ({ ...row, cells: (request.columns ?? []).map(() => null) }));
  return {
    rows,
    matched: rows.length,
    total: pack.runs.length,
    ids: rows.map((row) => row.id),
    groups: null,
    version: 0,
    unread: 0,
    exact: true,
    best: [],
  };
}

function panelsOf(pack: Pack, { runs }: { runs: readonly string[] }): Panels {
  const having = new Map<string, Set<string>>();
  const add = (key: string, kind: string, run: string) =>
    having.set(`${kind}\n${key}`, (having.get(`${kind}\n${key}`) ?? new Set()).add(run));
  for (const line of pack.lines) if (runs.includes(line.run)) add(line.key, "scalar", line.run);
  for (const one of pack.media) if (runs.includes(one.run)) add(one.key, one.items[0]?.kind ?? "image", one.run);
  const panels = [...having].map(([name, of]) => {
    const [kind, key] = name.split("\n") as [string, string];
    return { key, kind, section: key.includes("/") ? (key.split("/")[0] as string) : "", runs: of.size, x: null };
  });
  return { panels, omitted: 0 };
}
