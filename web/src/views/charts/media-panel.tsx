/** Images, sounds, texts, tables, curves: what the runs logged under one key, at one step. */

import { useState } from "preact/hooks";
import { Button, Skeleton } from "../../components";
import { readCurves } from "../../lib/chart-payload";
import { count, visibleText } from "../../lib/format";
import type { MediaItem, PanelInfo } from "../../lib/schema";
import { ConfusionView, CurvesView } from "./data-media";
import { EmbeddingView } from "./embedding-view";
import { FigureView } from "./figure-view";
import { type MediaState, useMedia } from "./media-data";
import { inkOfRun } from "../../state";
import { RecordingLink } from "../model/link";
import { RunChips } from "./run-chips";
import { AudioView, FileView, HtmlView, ImageView, VideoView } from "./seen-media";
import { TableView } from "./table-view";
import { TextView } from "./text-view";
import { runName } from "../../twins";

/** Side by side these would be too small to read; the enlarged panel shows them all. */
const ONE_AT_A_TIME = new Set(["confusion", "figure", "embedding", "table", "text", "html"]);
/** More curves than this in one picture, of several classes each, are a tangle. */
const MOST_CURVES = 16;

export function MediaPanel({ info, large }: { info: PanelInfo; large: boolean }) {
  const media = useMedia(info);
  const [chosen, setChosen] = useState<string | null>(null);
  if (media.error && !media.data) {
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
        <p>{media.error}</p>
        <Button onClick={media.retry}>Try again</Button>
      </div>
    );
  }
  if (!media.data) {
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover panel-wait">
        <Skeleton width="60%" />
      </div>
    );
  }
  const all = media.data.items.filter((item) => item.kind === info.kind);
  const runs = [...new Set(all.map((item) => item.run))];
  const tangled = info.kind === "curve" && runs.length > 1 && curvesIn(all) > MOST_CURVES;
  const one = tangled || (ONE_AT_A_TIME.has(info.kind) && !large && runs.length > 1);
  const run = chosen !== null && runs.includes(chosen) ? chosen : runs[0];
  const items = one ? all.filter((item) => item.run === run) : all;
  const most = Math.max(0, ...items.map((item) => item.count));
  const listed = info.kind !== "embedding" && most > 1;
  const shown = items.filter((item) => !listed || item.index === Math.min(media.index, item.count - 1));
  const steps = new Set(shown.map((item) => item.step));
  return (
    <div class="page media">
      {one ? (
        <div class="hstack gap-2 apart histogram-bar">
          <RunChips runs={runs} chosen={run} onChoose={setChosen} />
        </div>
      ) : null}
      <div class="gap-2 fill-down scroll media-items" data-count={Math.min(shown.length, 9)} data-kind={info.kind}>
        {shown.length === 0 ? <p class="none">Nothing was logged at or before this step.</p> : null}
        {info.kind === "curve" && shown.length > 0 ? (
          <CurvesView items={shown} />
        ) : (
          shown.map((item) => (
            <Item
              key={`${item.run}/${item.index}`}
              item={item}
              sprites={spritesOf(item, media.data?.items)}
              named={!one}
              dated={steps.size > 1}
              large={large}
            />
          ))
        )}
      </div>
      <Steps media={media} most={listed ? most : 1} />
    </div>
  );
}

const curvesIn = (items: readonly MediaItem[]): number =>
  items.reduce((sum, item) => sum + readCurves(item.text, item.meta).length, 0);

/** The sheet of small pictures that an embedding may bring along. */
const spritesOf = (item: MediaItem, all: readonly MediaItem[] = []): MediaItem | undefined =>
  item.kind === "embedding"
    ? all.find((one) => one.run === item.run && one.step === item.step && one.meta.sprite === true)
    : undefined;

interface ItemProps {
  item: MediaItem;
  sprites: MediaItem | undefined;
  named: boolean;
  /** The items are of different steps. */
  dated: boolean;
  large: boolean;
}

function Item({ item, sprites, named, dated, large }: ItemProps) {
  const caption = typeof item.meta.caption === "string" ? item.meta.caption : "";
  return (
    <figure class="vstack media-item">
      {named ? (
        <figcaption>
          <span class="ink" style={inkOfRun(item.run)} />
          <span class="isolate ellipsis" title={`${runName(item.run)}, step ${item.step}`}>
            {runName(item.run)}
          </span>
          {dated ? <span class="rigid push quiet media-step">step {item.step.toLocaleString("en-US")}</span> : null}
        </figcaption>
      ) : null}
      <div class="page media-content">
        <Content item={item} sprites={sprites} large={large} />
      </div>
      {caption ? (
        <p class="tiny isolate quiet media-caption" title={visibleText(caption)}>
          {visibleText(caption)}
        </p>
      ) : null}
    </figure>
  );
}

function Content({ item, sprites, large }: Pick<ItemProps, "item" | "sprites" | "large">) {
  switch (item.kind) {
    case "image":
      return <ImageView item={item} large={large} />;
    case "figure":
      return item.mime.startsWith("image/") ? <ImageView item={item} large={large} /> : <FigureView item={item} />;
    case "audio":
      return <AudioView item={item} />;
    case "video":
      return <VideoView item={item} />;
    case "text":
      return <TextView item={item} />;
    case "table":
      return <TableView item={item} />;
    case "confusion":
      return <ConfusionView item={item} />;
    case "embedding":
      return <EmbeddingView item={item} sprites={sprites} />;
    case "html":
      return <HtmlView item={item} />;
    case "step":
      return <RecordingLink item={item} />;
    default:
      return <FileView item={item} />;
  }
}

/** A slider over the steps that exist, and a pager for lists logged at one step. */
function Steps({ media, most }: { media: MediaState; most: number }) {
  const { steps, step, setStep, index, setIndex } = media;
  if (steps.length === 0) return null;
  const at =
    step === null
      ? steps.length - 1
      : Math.max(
          0,
          steps.findLastIndex((s) => s <= step),
        );
  return (
    <div class="hstack gap-2 soft tiny media-steps">
      {steps.length > 1 ? (
        <>
          <input
            class="slider"
            type="range"
            min={0}
            max={steps.length - 1}
            value={at}
            aria-label="Step"
            aria-valuetext={`step ${steps[at]}`}
            onInput={(event) => {
              const to = Number(event.currentTarget.value);
              setStep(to === steps.length - 1 ? null : (steps[to] ?? null));
            }}
          />
          <output title={count(steps.length, "step")}>
            {(steps[at] ?? 0).toLocaleString("en-US")}
            {step === null ? <i> newest</i> : null}
          </output>
        </>
      ) : (
        <span>step {(steps[0] ?? 0).toLocaleString("en-US")}</span>
      )}
      {most > 1 ? (
        <span class="inline push one-line pager">
          <button
            type="button"
            aria-label="Previous in the list"
            disabled={index === 0}
            onClick={() => setIndex(index - 1)}
          >
            ‹
          </button>
          {Math.min(index, most - 1) + 1} / {most}
          <button
            type="button"
            aria-label="Next in the list"
            disabled={index >= most - 1}
            onClick={() => setIndex(index + 1)}
          >
            ›
          </button>
        </span>
      ) : null}
    </div>
  );
}
