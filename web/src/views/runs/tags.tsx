/** Tags as chips, added and removed in place. */

import { useRef, useState } from "preact/hooks";
import { Popover, Tag, TextInput, toast } from "../../components";
import { PlusIcon } from "../../components/icons";
import { strictly } from "../../components/run-actions";
import { info } from "../../components/topbar";
import { type Done, forget, remember } from "../../components/undo";
import { visibleText } from "../../lib/format";
import type { EditRequest } from "../../lib/schema";
import { type Before, inverse, wordsOf } from "../../lib/undo-edits";
import { known } from "../../state";
import { editRuns, rows } from "./data";

/** What the runs are like now, as far as this page knows them. */
function asTheyAre(ids: readonly string[]): Before[] {
  return ids.flatMap((id) => rows.peek().get(id)?.row ?? known.peek().get(id) ?? []);
}

/** Sends a change, says in words what was refused, and remembers how to take it back. */
export async function change(request: EditRequest): Promise<boolean> {
  const back = inverse(request, asTheyAre(request.runs));
  const answer = editRuns(request);
  const step: Done = {
    words: visibleText(wordsOf(request)),
    undo: async () => {
      await answer;
      for (const one of back) await strictly(editRuns(one));
    },
    redo: async () => void (await strictly(editRuns(request))),
  };
  if (back.length > 0) remember(step); // at once: the page shows the change before the server has it
  try {
    const done = await answer;
    const refused = done.refused[0];
    if (!refused) return true;
    forget(step);
    toast(
      refused.reason,
      "error",
      done.refused.length > 1 ? `${done.refused.length} runs were not changed` : "Not changed",
    );
  } catch (fault) {
    forget(step);
    toast(fault instanceof Error ? fault.message : String(fault), "error", "Not changed");
  }
  return false;
}

/** A ref, and so the same function each time: an inline one would take the focus back at every letter. */
function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}

function tagsInUse(): string[] {
  const counts = new Map<string, number>();
  for (const { row } of rows.value.values()) for (const tag of row.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts.entries()].sort((a, b) => b[1] - a[1]).map(([tag]) => tag);
}

export interface TagAdderProps {
  runs: readonly string[];
  has: readonly string[];
  /** The button's words; without them it is a small plus. */
  words?: string;
}

export function TagAdder({ runs, has, words }: TagAdderProps) {
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState("");
  const anchor = useRef<HTMLButtonElement>(null);
  if (info.value?.read_only) return null;
  const fits = tagsInUse().filter(
    (tag) => !has.includes(tag) && tag.toLowerCase().includes(draft.trim().toLowerCase()),
  );
  const add = (tag: string) => {
    const wanted = tag.trim();
    if (wanted !== "") void change({ runs: [...runs], add_tags: [wanted] });
    setDraft("");
    setOpen(false);
    anchor.current?.focus();
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class={words ? "button" : "inline centered rigid quiet tag-add"}
        aria-label={words ? undefined : "Add a tag"}
        title={words ? undefined : "Add a tag"}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {words ?? <PlusIcon size={11} />}
      </button>
      {open ? (
        <Popover anchor={anchor.current} label="Add a tag" onClose={() => setOpen(false)} class="tag-popover">
          <TextInput
            label="New tag"
            placeholder="New tag, Enter to add"
            value={draft}
            maxLength={200}
            inputRef={focusOnce}
            onInput={setDraft}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault(); // the button that gets the focus back would take it for a click
              add(draft);
            }}
          />
          <div class="tag-choices">
            {fits.slice(0, 12).map((tag) => (
              <button key={tag} type="button" class="tag" onClick={() => add(tag)}>
                <span class="tag-text">{visibleText(tag)}</span>
              </button>
            ))}
          </div>
        </Popover>
      ) : null}
    </>
  );
}

export function TagsCell({ id, tags, onPick }: { id: string; tags: readonly string[]; onPick?(tag: string): void }) {
  const fixed = info.value?.read_only ?? false;
  return (
    <span class="hstack tags">
      {tags.map((tag) => (
        <Tag
          key={tag}
          text={tag}
          onPick={onPick ? () => onPick(tag) : undefined}
          onRemove={fixed ? undefined : () => void change({ runs: [id], remove_tags: [tag] })}
        />
      ))}
      <TagAdder runs={[id]} has={tags} />
    </span>
  );
}
