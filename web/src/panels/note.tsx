/** A few words that must not be overlooked. */

import { Markdown } from "../components/markdown";
import { type PanelKind, type PanelProps, textOf } from "./panel";

function Panel({ options }: PanelProps) {
  return (
    <div class="report-note" role="note" data-tone={textOf(options, "tone") || "info"}>
      <Markdown text={textOf(options, "text")} deeper={3} class="report-note-text" />
    </div>
  );
}

export default {
  kind: "note",
  title: "Note",
  hint: "Markdown in a colored box",
  needs: 0,
  narrow: true,
  fields: [
    {
      name: "text",
      label: "Text",
      type: "long",
      required: true,
      hint: "Markdown: **bold**, `code`, lists, tables, links",
    },
    {
      name: "tone",
      label: "Tone",
      type: "choice",
      choices: [
        { value: "", label: "Information" },
        { value: "good", label: "Good news" },
        { value: "warning", label: "Warning" },
      ],
    },
  ],
  Panel,
} satisfies PanelKind;
