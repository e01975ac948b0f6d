/** What people wrote about the run: Markdown, edited in place with what it will look like beside it. */

import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../components";
import { PencilIcon } from "../../components/icons";
import { Markdown } from "../../components/markdown";
import type { RunDetail } from "../../lib/schema";
import { change } from "../runs/tags";
import { readRun } from "./data";
import { Folded } from "./folded";
import { Section } from "./pieces";
import { goPart } from "./place";

interface Draft {
  text: string;
  /** The notes it was begun from. */
  from: string;
}

/** Unsaved texts by run: leaving the part, or news of the run, loses none. */
const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

function setDraft(run: string, draft: Draft | null): void {
  const next = new Map(drafts.peek());
  if (draft) next.set(run, draft);
  else next.delete(run);
  drafts.value = next;
}

/** Opens the editor, on the part that has it. */
export function editNotes(run: RunDetail): void {
  if (!drafts.peek().has(run.id)) setDraft(run.id, { text: run.notes, from: run.notes });
  goPart("overview");
}

export function Notes({ run }: { run: RunDetail }) {
  const draft = drafts.value.get(run.id);
  if (draft) return <Editor run={run} draft={draft} onClose={() => setDraft(run.id, null)} />;
  if (!run.notes) return null;
  return (
    <Section
      title="Notes"
      aside={
        run.editable ? (
          <Button kind="quiet" onClick={() => editNotes(run)}>
            <PencilIcon size={12} /> Edit
          </Button>
        ) : null
      }
    >
      <Folded height={190}>
        <Markdown text={run.notes} class="markdown run-notes isolate" />
      </Folded>
    </Section>
  );
}

function focusEnd(field: HTMLTextAreaElement | null): void {
  if (!field || document.activeElement === field) return;
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
}

function Editor({ run, draft, onClose }: { run: RunDetail; draft: Draft; onClose(): void }) {
  const [text, setText] = useState(draft.text);
  const [saving, setSaving] = useState(false);
  const overwrite = useRef(false);
  const moved = run.notes !== draft.from;
  const write = (next: string) => {
    draft.text = next;
    setText(next);
  };
  const save = async () => {
    if (text === run.notes) return onClose();
    if (moved && !overwrite.current) return;
    setSaving(true);
    const saved = await change({ runs: [run.id], notes: text });
    setSaving(false);
    if (!saved) return;
    await readRun(run.id);
    onClose();
  };
  return (
    <Section
      title="Notes"
      aside={
        <>
          <span class="quiet notes-keys">Ctrl+Enter saves</span>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" disabled={saving || moved} onClick={() => void save()}>
            {saving ? "Saving …" : "Save"}
          </Button>
        </>
      }
    >
      {moved ? (
        <div class="card-line note-warn" role="alert">
          Someone changed the notes while you were writing.{" "}
          <button
            type="button"
            class="link"
            onClick={() => ((overwrite.current = true), (draft.from = run.notes), void save())}
          >
            Save mine instead
          </button>{" "}
          or{" "}
          <button
            type="button"
            class="link"
            onClick={() => ((draft.from = run.notes), write(`${run.notes}\n\n${text}`))}
          >
            put mine below theirs
          </button>
        </div>
      ) : null}
      <div class="notes-editor">
        <textarea
          ref={focusEnd}
          aria-label="Notes, in Markdown"
          placeholder="What you tried, what you saw, what comes next. Markdown works."
          maxLength={100_000}
          rows={Math.min(24, Math.max(6, text.split("\n").length + 1))}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
            else if (event.key === "Escape") event.stopPropagation(), text === run.notes && onClose();
          }}
        />
        <div class="scroll px-4 py-3 notes-preview" aria-label="Preview" role="group">
          {text.trim() ? (
            <Markdown text={text} class="markdown isolate" />
          ) : (
            <p class="quiet">The preview appears here.</p>
          )}
        </div>
      </div>
    </Section>
  );
}
