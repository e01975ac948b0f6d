/** Writing a report: the text on one side, what it becomes on the other. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, copyText, Dialog, toast } from "../../components";
import { ApiError } from "../../lib/api";
import { visibleText } from "../../lib/format";
import { insertBlock, moveSpan, replaceSpan } from "../../lib/report-text";
import type { PanelBlock } from "../../lib/schema";
import { kindNamed, type PanelKind } from "../../panels/panel";
import { DiffView } from "./diff-view";
import type { Editing } from "./editing";
import { EditorBar } from "./editor-bar";
import { PanelForm } from "./panel-form";
import { Preview } from "./preview";
import { TextBox, type TextBoxHandle } from "./text-box";

export interface EditorProps {
  editing: Editing;
  runs: readonly string[];
  /** The report is on the server now, under this id. */
  onSaved(id: string): void;
  onDone(): void;
}

/** The form that is open: for a new panel before a line, or for one that is there. */
interface Asking {
  kind: PanelKind;
  line: number;
  block: PanelBlock | null;
}

export function Editor({ editing, runs, onSaved, onDone }: EditorProps) {
  const box = useRef<TextBoxHandle>(null);
  const [asking, setAsking] = useState<Asking | null>(null);
  const side = useSignal<"write" | "preview">("write");
  const line = useSignal(0);
  useLeaveGuard(editing);
  const problems = useMemo(
    () => new Map(editing.problems.value.map((one) => [one.line, one.text])),
    [editing.problems.value],
  );
  const save = () => void saveNow(editing, onSaved);
  const change = (next: string) => box.current?.change(next);
  const done = (text: string) => {
    if (!asking) return;
    const { block, line: before } = asking;
    change(block ? replaceSpan(editing.text.peek(), block, text) : insertBlock(editing.text.peek(), before, text));
    setAsking(null);
  };
  // A moment later: as long as a dialog is open nothing behind it can have the focus.
  const backToText = () => void setTimeout(() => box.current?.focus());
  const close = () => (setAsking(null), backToText());
  const move = (block: PanelBlock, before: number) => change(moveSpan(editing.text.peek(), block, before));
  return (
    <div
      class="page report-editor"
      data-side={side.value}
      onKeyDown={(event) => isSave(event) && (event.preventDefault(), save())}
    >
      <EditorBar
        editing={editing}
        box={box}
        side={side}
        onPanel={(kind) => setAsking({ kind, line: box.current?.line() ?? 0, block: null })}
        onSave={save}
        onDone={onDone}
      />
      <div class="fill-down report-sides">
        <TextBox
          handle={box}
          text={editing.text.value}
          problems={problems}
          onText={(text) => editing.setText(text)}
          onSave={save}
          onEscape={() => undefined}
          onPanel={(kind, before) => setAsking({ kind, line: before, block: null })}
          onLine={(at) => (line.value = at)}
        />
        <Preview
          editing={editing}
          line={line}
          onEdit={(block) => {
            const kind = kindNamed(block.panel);
            if (kind) setAsking({ kind, line: block.line, block });
            else box.current?.select(block.line, block.end);
          }}
          onShow={(block) => box.current?.select(block.line, block.end)}
          onRemove={(block) => change(replaceSpan(editing.text.peek(), block, ""))}
          onMove={move}
        />
      </div>
      {asking ? (
        <PanelForm
          kind={asking.kind}
          options={asking.block?.options ?? {}}
          front={frontOf(editing.text.peek())}
          runs={runs}
          isNew={asking.block === null}
          onDone={done}
          onClose={close}
        />
      ) : null}
      {editing.conflict.value ? <Conflict editing={editing} onSave={save} onLeave={backToText} /> : null}
    </div>
  );
}

const isSave = (event: KeyboardEvent): boolean => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";

async function saveNow(editing: Editing, onSaved: (id: string) => void): Promise<void> {
  if (!editing.dirty.peek() && editing.id) return toast("Nothing has changed since the last version.");
  try {
    const id = await editing.save();
    if (id === null) return;
    toast(`Saved as version ${editing.base.peek()}`);
    onSaved(id);
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    editing.keep();
    toast(`${fault.message} Your text is kept in this browser.`, "error", "Not saved");
  }
}

/** The lines at the top that say which runs the report is about. */
function frontOf(text: string): string {
  return /^---\n[\s\S]*?\n(---|\.\.\.)(\n|$)/.exec(text)?.[0] ?? "";
}

/** Asks before the page is closed with unsaved text; inside the app nothing is lost, since the text is kept. */
function useLeaveGuard(editing: Editing): void {
  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      if (!editing.dirty.peek()) return;
      editing.keep();
      event.preventDefault();
    };
    addEventListener("beforeunload", guard);
    return () => {
      removeEventListener("beforeunload", guard);
      if (editing.dirty.peek()) toast("Your changes are kept in this browser until you save or discard them.");
      editing.close();
    };
  }, [editing]);
}

/** Somebody else saved meanwhile: both texts are shown, none is lost. */
function Conflict({ editing, onSave, onLeave }: { editing: Editing; onSave(): void; onLeave(): void }) {
  const theirs = editing.conflict.value;
  useEffect(() => onLeave, []);
  if (!theirs) return null;
  return (
    <Dialog title="Someone else saved first" onClose={() => (editing.conflict.value = null)} wide>
      <div class="conflict">
        <p>
          You started from version {editing.base.value};{" "}
          <span class="isolate">{visibleText(theirs.author) || "somebody"}</span> has saved version {theirs.version}{" "}
          since. Nothing was overwritten. Below, from their text to yours:
        </p>
        <DiffView older={theirs.text} newer={editing.text.value} />
        <footer>
          <Button onClick={() => void copyText(editing.text.peek(), "Text copied")}>Copy mine</Button>
          <span class="spring" />
          <Button onClick={() => editing.settleConflict(false)}>Continue with theirs</Button>
          <Button kind="primary" onClick={() => (editing.settleConflict(true), onSave())}>
            Save mine as version {theirs.version + 1}
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
