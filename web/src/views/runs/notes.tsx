/** Notes: one line in the table, a text field when edited. Ctrl+Enter or leaving it saves; Esc does not. */

import { useRef, useState } from "preact/hooks";
import { Popover } from "../../components";
import { PencilIcon } from "../../components/icons";
import { info } from "../../components/topbar";
import { visibleText } from "../../lib/format";
import { change } from "./tags";

export function NotesCell({ id, notes }: { id: string; notes: string }) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const shown = visibleText(notes);
  if (info.value?.read_only) return <span class="isolate ellipsis">{shown}</span>;
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="notes"
        title={shown || "Add a note"}
        aria-expanded={open}
        onClick={() => setOpen(true)}
      >
        {notes ? <span class="isolate ellipsis">{shown}</span> : <span class="notes-empty">Add a note</span>}
        <PencilIcon size={12} />
      </button>
      {open ? <NotesEditor id={id} notes={notes} anchor={anchor.current} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function focusOnce(field: HTMLTextAreaElement | null): void {
  field?.focus();
}

interface NotesEditorProps {
  id: string;
  notes: string;
  anchor: HTMLElement | null;
  onClose(): void;
  onSaved?: () => void;
}

function NotesEditor({ id, notes, anchor, onClose, onSaved }: NotesEditorProps) {
  const draft = useRef(notes);
  const done = useRef(false);
  const save = () => {
    if (done.current) return;
    done.current = true;
    if (draft.current !== notes)
      void change({ runs: [id], notes: draft.current }).then((saved) => saved && onSaved?.());
    onClose();
  };
  const cancel = () => {
    done.current = true;
    onClose();
  };
  return (
    <Popover anchor={anchor} label="Notes" onClose={cancel} class="notes-popover">
      <textarea
        ref={focusOnce}
        class="full px-2 py-2 block notes-field"
        aria-label="Notes"
        rows={6}
        defaultValue={notes}
        onInput={(event) => (draft.current = event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      <p class="tiny quiet notes-hint">Ctrl+Enter saves, Esc does not.</p>
    </Popover>
  );
}
