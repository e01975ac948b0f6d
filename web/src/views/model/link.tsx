/** A recording among a run's media: it is looked at on the Model page. */

import { visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { go, linkTo } from "../../router";
import { recordingId } from "./recording";

export function RecordingLink({ item }: { item: MediaItem }) {
  const { model, ops } = item.meta;
  const words = [
    typeof model === "string" ? model : "",
    typeof ops === "number" ? `${ops.toLocaleString("en-US")} ops` : "",
  ];
  const open = (event: MouseEvent) => {
    event.preventDefault();
    go("/model", { of: item.run, recording: recordingId(item) });
  };
  return (
    <p class="none">
      <a href={linkTo("/model")} onClick={open}>
        Open in Model
      </a>
      <span class="isolate">{visibleText(["", ...words.filter(Boolean)].join(" · "))}</span>
    </p>
  );
}
