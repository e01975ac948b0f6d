/** What can be done to the text: marks, panels, saving. */

import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { Button, IconButton, Menu, type MenuItem } from "../../components";
import { CheckIcon, PlusIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { PANELS, type PanelKind } from "../../panels/panel";
import type { Editing } from "./editing";
import type { TextBoxHandle } from "./text-box";

export interface EditorBarProps {
  editing: Editing;
  box: RefObject<TextBoxHandle>;
  side: Signal<"write" | "preview">;
  onPanel(kind: PanelKind): void;
  onSave(): void;
  onDone(): void;
}

export function EditorBar({ editing, box, side, onPanel, onSave, onDone }: EditorBarProps) {
  const panels: MenuItem[] = PANELS.map((kind) => ({
    key: kind.kind,
    label: (
      <span class="report-kind">
        <b>{kind.title}</b>
        <small>{kind.hint}</small>
      </span>
    ),
    onPick: () => onPanel(kind),
  }));
  const mark = (label: string, glyph: string, act: (handle: TextBoxHandle) => void, kind = "") => (
    <IconButton label={label} onClick={() => box.current && act(box.current)}>
      <span class={`small glyph ${kind}`}>{glyph}</span>
    </IconButton>
  );
  return (
    <div class="bar report-bar" role="toolbar" aria-label="Edit the report">
      <span class="segments report-side-switch" role="group" aria-label="Show">
        {(["write", "preview"] as const).map((one) => (
          <button key={one} type="button" aria-pressed={side.value === one} onClick={() => (side.value = one)}>
            {one === "write" ? "Write" : "Preview"}
          </button>
        ))}
      </span>
      <Menu
        label="Insert a panel"
        buttonClass="button"
        button={
          <>
            <PlusIcon size={14} /> Panel
          </>
        }
        items={panels}
      />
      <span class="report-marks">
        {mark("Heading", "H", (h) => h.prefix("## "))}
        {mark("Bold", "B", (h) => h.wrap("**", "**", "bold"), "report-bold")}
        {mark("Italic", "I", (h) => h.wrap("*", "*", "italic"), "report-italic")}
        {mark("Code", "<>", (h) => h.wrap("`", "`", "code"))}
        {mark("Link", "↗", (h) => h.wrap("[", "](https://)", "words"))}
        {mark("List", "•", (h) => h.prefix("- "))}
        {mark("Quote", "❝", (h) => h.prefix("> "))}
      </span>
      <span class="shrinks isolate ellipsis quiet report-editing">{visibleText(editing.title.value)}</span>
      <span class="spring" />
      <SaveState editing={editing} />
      <Button onClick={onDone}>{editing.dirty.value ? "Close" : "Done"}</Button>
      <Button kind="primary" disabled={editing.saving.value} title="Save a version (Ctrl+S)" onClick={onSave}>
        Save
      </Button>
    </div>
  );
}

function SaveState({ editing }: { editing: Editing }) {
  const words = editing.saving.value
    ? "saving…"
    : editing.fault.value
      ? "no preview: the server does not answer"
      : editing.dirty.value
        ? "not saved yet"
        : editing.id
          ? `version ${editing.base.value}`
          : "";
  return (
    <span
      class="inline small one-line quiet report-save-state"
      role="status"
      data-bad={editing.fault.value ? true : undefined}
    >
      {!editing.dirty.value && editing.id ? <CheckIcon size={12} /> : null} {words}
    </span>
  );
}
