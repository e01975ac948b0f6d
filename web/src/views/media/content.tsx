/** What one key shows, by its kind: side by side for each run, or all runs in one. */

import type { ComponentChildren } from "preact";
import type { MediaItem, MediaKey } from "../../lib/schema";
import { FileView, HtmlView } from "../charts/seen-media";
import { FigureItem } from "./figure";
import { Confusions } from "./confusions";
import { Curves } from "./curves";
import { Pictures } from "./pictures";
import { Projector } from "./projector";
import { RunName } from "./run-heads";
import * as settings from "./settings";
import { Sounds } from "./sounds";
import { Tables } from "./tables";
import { Texts } from "./texts";
import { Videos } from "./videos";

export interface ContentProps {
  entry: Pick<MediaKey, "key" | "kind">;
  /** Those of the key's kind, at the step. */
  items: readonly MediaItem[];
  /** All of the key: an embedding's sheet of pictures is an image. */
  all: readonly MediaItem[];
  runs: readonly string[];
  columns: boolean;
  /** Where the slider stands: items from another step say so. */
  step: number | null;
}

export function Content(props: ContentProps) {
  const { entry, items, runs, columns, step } = props;
  if (items.length === 0) return <p class="small quiet media-none">Nothing was logged here at or before this step.</p>;
  switch (entry.kind) {
    case "image":
      return <Pictures {...props} />;
    case "video":
      return <Videos {...props} />;
    case "audio":
      return <Sounds {...props} />;
    case "text":
      return <Texts items={items} step={step} />;
    case "table":
      return <Tables items={items} step={step} />;
    case "curve":
      return <Curves items={items} step={step} />;
    case "confusion":
      return <Confusions items={items} step={step} />;
    case "embedding":
      return <Projector items={items} all={props.all} step={step} />;
    case "figure":
      return items.every((item) => item.mime.startsWith("image/")) ? (
        <Pictures {...props} />
      ) : (
        <Cells
          items={items}
          runs={runs}
          columns={columns}
          step={step}
          wide
          render={(item) => <FigureItem item={item} />}
        />
      );
    case "html":
      return (
        <Cells
          items={items}
          runs={runs}
          columns={columns}
          step={step}
          wide
          render={(item) => <HtmlView item={item} />}
        />
      );
    default:
      return (
        <Cells items={items} runs={runs} columns={columns} step={step} render={(item) => <FileView item={item} />} />
      );
  }
}

const WIDE_PX = 280;

export interface CellsProps {
  items: readonly MediaItem[];
  runs: readonly string[];
  columns: boolean;
  step: number | null;
  /** Needs more room than a picture. */
  wide?: boolean;
  render(item: MediaItem): ComponentChildren;
}

/** A cell for each run, in its column or one after the other. A run's list stands together. */
export function Cells({ items, runs, columns: wanted, step, wide = false, render }: CellsProps) {
  // What needs more than its column goes one after the other: beside the wrong name it would mislead.
  const columns = wanted && !(wide && settings.drawnSize.value < WIDE_PX);
  const cells = runs.map((run) => ({ run, own: items.filter((item) => item.run === run) }));
  return (
    <div class={columns ? "media-cells" : "media-flow"} data-wide={wide || undefined}>
      {cells.map(({ run, own }) =>
        own.length === 0 ? (
          columns ? (
            <p key={run} class="tiny quiet media-absent">
              not logged
            </p>
          ) : null
        ) : (
          <div key={run} class="vstack gap-1 anchor shrinks small media-cell" data-many={own.length > 1 || undefined}>
            {columns ? (
              <StepNote items={own} step={step} />
            ) : runs.length > 1 ? (
              <span class="gap-2 soft media-who">
                <RunName run={run} />
                <StepNote items={own} step={step} />
              </span>
            ) : null}
            <div class="media-list">
              {own.map((item) => (
                <div key={item.index}>{render(item)}</div>
              ))}
            </div>
          </div>
        ),
      )}
    </div>
  );
}

/** Said where a run's newest is older than the slider. */
export function StepNote({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  const own = items[0]?.step;
  if (own === undefined || own === step || step === null) return null;
  return <span class="rigid push quiet media-step">step {own.toLocaleString("en-US")}</span>;
}
