/** Pictures of the runs side by side at the same step, with a slider. */

import { lazily } from "../components/lazily";
import { numberOf, type PanelKind, type PanelProps, textOf } from "./panel";

const MediaFigure = lazily(() => import("./parts/media-figure").then((chunk) => chunk.MediaFigure));

function Panel({ options, runs }: PanelProps) {
  return (
    <MediaFigure
      runs={runs}
      name={textOf(options, "key")}
      step={numberOf(options, "step")}
      size={numberOf(options, "height") ?? 220}
    />
  );
}

export default {
  kind: "image",
  title: "Pictures",
  hint: "images of the runs at the same step, with a slider",
  needs: 1,
  fields: [
    { name: "key", label: "Key", type: "media", required: true },
    { name: "step", label: "At step", type: "number", hint: "the newest if empty" },
  ],
  Panel,
} satisfies PanelKind;
