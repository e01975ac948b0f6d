/** Vectors in the plane or in space: turn, zoom, colour, search, and see which are near each other. */

import { Segments } from "../../components/segments";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, Select, Slider, TextInput } from "../../components";
import { SearchIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { cloudOf, colouringOf, matching } from "../../lib/projector";
import type { MediaItem } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { isDark } from "../../theme";
import { StepNote } from "./content";
import { keepArrows } from "./look-place";
import { useOneRun } from "./one-run";
import { CloudView } from "./projector-cloud";
import { type Method, useNear, useProjection, type Wanted } from "./projector-data";
import { Side } from "./projector-side";

const METHODS: readonly { value: Method; label: string }[] = [
  { value: "pca", label: "PCA" },
  { value: "tsne", label: "t-SNE" },
  { value: "umap", label: "UMAP" },
];

/** What the server lacks is named with its cure, so that nobody has to guess that it could be there. */
const methodsOf = (known: readonly string[] | undefined) =>
  METHODS.map((one) =>
    one.value === "umap" && !known?.includes("umap")
      ? { ...one, label: "UMAP (needs umap-learn)", disabled: true }
      : one,
  );

const DIMENSIONS = [
  { value: "2", label: "2D" },
  { value: "3", label: "3D" },
] as const;

export function Projector({
  items,
  all,
  step,
}: {
  items: readonly MediaItem[];
  all: readonly MediaItem[];
  step: number | null;
}) {
  const { item, chips } = useOneRun(items);
  const [wanted, setWanted] = useState<Wanted>({ method: "pca", dims: 3, perplexity: 30 });
  const [by, setBy] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const [only, setOnly] = useState<string | null>(null);
  const [chosen, setChosen] = useState(-1);
  const [picked, setPicked] = useState<ReadonlySet<number> | null>(null);
  const { data, error, retry } = useProjection(item, wanted, true);
  useEffect(() => (setChosen(-1), setPicked(null), setOnly(null)), [item.run, item.step]);
  const columns = data?.columns ?? [];
  const column = columns.find((one) => one.name === by) ?? columns[0] ?? null;
  const cloud = useMemo(
    () => (data ? cloudOf(data.x, data.y, data.z) : new Float32Array()),
    [data?.x, data?.y, data?.z],
  );
  const single = lookOfRun(item.run).colour;
  const colouring = useMemo(
    () => colouringOf(column?.values ?? null, data?.rows.length ?? 0, isDark.value, single),
    [column, data?.rows.length, isDark.value, single],
  );
  const found = useMemo(() => matching(columns, search), [columns, search]);
  const strong = useMemo(() => {
    if (found) return found;
    if (picked) return picked;
    return only === null
      ? null
      : new Set((column?.values ?? []).flatMap((value, i) => (String(value ?? "") === only ? [i] : [])));
  }, [found, picked, only, column]);
  const row = chosen >= 0 ? (data?.rows[chosen] ?? -1) : -1;
  const near = useNear(item, row);
  const sheet = all.find((one) => one.run === item.run && one.step === item.step && one.meta.sprite === true);
  const places = useMemo(() => new Map(data?.rows.map((r, i) => [r, i])), [data?.rows]);
  return (
    <div class="vstack gap-2 media-together projector">
      <div class="hstack wraps gap-2 small together-bar" onKeyDown={keepArrows}>
        {chips}
        <StepNote items={[item]} step={step} />
        <Select
          label="Method"
          value={wanted.method}
          options={methodsOf(data?.methods)}
          onChange={(method) => setWanted({ ...wanted, method })}
        />
        <Segments
          label="Dimensions"
          value={wanted.dims === 3 ? "3" : "2"}
          options={DIMENSIONS}
          onChange={(dims) => setWanted({ ...wanted, dims: dims === "3" ? 3 : 2 })}
        />
        {wanted.method === "pca" ? null : (
          <label class="inline gap-2 soft small adjust-field">
            <span>{wanted.method === "umap" ? "Neighbours" : "Perplexity"}</span>
            <Slider
              label="Neighbors of each point"
              min={5}
              max={100}
              step={5}
              value={wanted.perplexity}
              onInput={(perplexity) => setWanted({ ...wanted, perplexity })}
            />
            <output>{wanted.perplexity}</output>
          </label>
        )}
        {columns.length > 1 ? (
          <Select
            label="Color by"
            value={column?.name ?? ""}
            options={columns.map(({ name }) => ({ value: name, label: `Color by ${visibleText(name)}` }))}
            onChange={(name) => (setBy(name), setOnly(null))}
          />
        ) : null}
        {columns.length > 0 ? (
          <TextInput
            label="Find points"
            placeholder="Find points"
            icon={<SearchIcon size={14} />}
            value={search}
            onInput={setSearch}
          />
        ) : null}
        {found ? <span class="quiet">{found.size.toLocaleString("en-US")} found</span> : null}
      </div>
      {error && !data ? (
        <div class="gap-2 quiet media-fault" role="alert">
          <p>{error}</p>
          <Button onClick={retry}>Try again</Button>
        </div>
      ) : (
        <div class="wraps gap-3 projector-pair">
          <CloudView
            cloud={cloud}
            deep={wanted.dims === 3}
            colours={colouring.colours}
            shapes={colouring.shapes}
            strong={strong}
            near={(near?.rows ?? []).flatMap((r) => places.get(r) ?? [])}
            chosen={chosen}
            onChoose={setChosen}
            onPick={(all) => setPicked(all.length ? new Set(all) : null)}
            busy={data === null || !data.done}
            part={data?.part ?? 0}
            tip={(i) => ({
              item,
              sheet,
              row: data?.rows[i] ?? 0,
              lines: columns.map(({ name, values }) => [name, String(values[i] ?? "")] as const),
            })}
          />
          <Side
            item={item}
            sheet={sheet}
            columns={columns}
            colouring={colouring}
            colouredBy={column?.name ?? ""}
            only={only}
            onOnly={(name) => setOnly(only === name ? null : name)}
            chosen={chosen}
            row={row}
            near={near}
            placeOf={(r) => places.get(r) ?? -1}
            onChoose={setChosen}
            picked={picked}
            onClear={() => setPicked(null)}
            note={[
              data?.note ?? "",
              data && data.total > data.rows.length
                ? `${data.rows.length.toLocaleString("en-US")} of ${data.total.toLocaleString("en-US")} points, chosen at random`
                : "",
              error ?? "",
            ]
              .filter(Boolean)
              .join("; ")}
          />
        </div>
      )}
    </div>
  );
}
