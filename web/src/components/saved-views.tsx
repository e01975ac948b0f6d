/** The menu of saved views: come back to a layout, keep the one on the screen, rename, make default, forget. */

import { useRef, useState } from "preact/hooks";
import { visibleText } from "../lib/format";
import type { SavedView } from "../lib/schema";
import { type PageDef, place } from "../router";
import { dropView, isOpen, isOwn, loadViews, openView, saveView, shared, viewsHere } from "../saved-views";
import { Button, IconButton } from "./button";
import { TextInput } from "./fields";
import { BookmarkIcon, CheckIcon, CloseIcon, PencilIcon, PinIcon, ResetIcon } from "./icons";
import { Popover } from "./popover";
import { copyText, toast } from "./toast";
import { remember } from "./undo";

export function SavedViewsMenu({ pages }: { pages: readonly PageDef[] }) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const label = "Saved views";
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => {
          if (!open) void loadViews();
          setOpen(!open);
        }}
      >
        <BookmarkIcon />
      </button>
      {open ? (
        <Popover
          anchor={anchor.current}
          label={label}
          align="end"
          class="vstack clipped views-popover"
          onClose={() => setOpen(false)}
        >
          <Body pages={pages} onPicked={() => (setOpen(false), anchor.current?.focus())} />
        </Popover>
      ) : null}
    </>
  );
}

async function trying(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "error", "The view was not saved");
    return false;
  }
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}

function Body({ pages, onPicked }: { pages: readonly PageDef[]; onPicked(): void }) {
  const [name, setName] = useState("");
  const [renaming, setRenaming] = useState<string | null>(null);
  const list = viewsHere.value;
  const same = list.find((view) => view.name === name.trim());
  const save = async () => {
    if (name.trim() === "") return;
    const saved = await trying(() => saveView({ name: name.trim(), ...(same ? { over: same } : {}) }));
    if (!saved) return;
    toast(same ? `“${visibleText(name.trim())}” now matches this page` : `Saved “${visibleText(name.trim())}”`);
    setName("");
  };
  return (
    <div class="views">
      <header>
        <h2>Saved views</h2>
        <span class="spring" />
        <Button
          kind="quiet"
          onClick={() => void copyText(location.href.replace(/[?&]token=[^&#]*/, ""), "Link copied")}
        >
          Copy link
        </Button>
      </header>
      {list.length === 0 ? (
        <p class="none quiet">
          A view saves this page: its query, columns, runs and panels. Name it to come back to it.
        </p>
      ) : (
        <ul>
          {list.map((view) => (
            <li key={view.id} data-open={isOpen(view) ? "" : undefined}>
              {renaming === view.id ? (
                <Rename view={view} onDone={() => setRenaming(null)} />
              ) : (
                <Line view={view} pages={pages} onPicked={onPicked} onRename={() => setRenaming(view.id)} />
              )}
            </li>
          ))}
        </ul>
      )}
      <form
        class="gap-2 px-4 py-3 views-new"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextInput
          label="Name of the view"
          placeholder="Save this page as…"
          value={name}
          maxLength={100}
          inputRef={list.length === 0 ? focusOnce : null}
          onInput={setName}
        />
        <Button kind="primary" type="submit" disabled={name.trim() === ""}>
          {same ? "Overwrite" : "Save"}
        </Button>
      </form>
      <p class="quiet views-where">
        {shared.value
          ? "Saved in the store, for everyone who opens it."
          : "Saved in this browser, because the store is read-only."}
      </p>
    </div>
  );
}

interface LineProps {
  view: SavedView;
  pages: readonly PageDef[];
  onPicked(): void;
  onRename(): void;
}

function Line({ view, pages, onPicked, onRename }: LineProps) {
  const page = pages.find((one) => one.path === view.page)?.title ?? view.page;
  const name = visibleText(view.name);
  const fixed = !shared.value && !isOwn(view);
  const forget = async () => {
    if (!(await trying(() => dropView(view)))) return;
    remember({ words: `delete view “${name}”`, undo: () => putBack(view) }, `Deleted view “${name}”`);
  };
  return (
    <>
      <button type="button" class="fill option views-open" onClick={() => (openView(view), onPicked())}>
        {isOpen(view) ? <CheckIcon size={14} /> : <BookmarkIcon size={14} />}
        <span class="isolate ellipsis">{name}</span>
        <span class="quiet isolate">{view.default ? `${page}, default` : page}</span>
      </button>
      {fixed ? null : (
        <span class="views-tools">
          {place.value.path === view.page && !isOpen(view) ? (
            <IconButton
              label={`Overwrite ${name} with this page`}
              onClick={() => void trying(() => saveView({ name: view.name, over: view }))}
            >
              <ResetIcon size={13} />
            </IconButton>
          ) : null}
          <IconButton
            label={view.default ? `${name} opens with ${page}; stop that` : `Open ${page} with ${name}`}
            pressed={view.default}
            onClick={() =>
              void trying(() => saveView({ name: view.name, over: view, keep: true, isDefault: !view.default }))
            }
          >
            <PinIcon size={13} />
          </IconButton>
          <IconButton label={`Rename ${name}`} onClick={onRename}>
            <PencilIcon size={13} />
          </IconButton>
          <IconButton label={`Delete ${name}`} onClick={() => void forget()}>
            <CloseIcon size={13} />
          </IconButton>
        </span>
      )}
    </>
  );
}

async function putBack(view: SavedView): Promise<void> {
  await saveView({ name: view.name, over: { ...view, id: "" }, keep: true, isDefault: view.default });
}

function Rename({ view, onDone }: { view: SavedView; onDone(): void }) {
  const [name, setName] = useState(view.name);
  const save = async () => {
    if (name.trim() !== "" && name.trim() !== view.name)
      await trying(() => saveView({ name: name.trim(), over: view, keep: true }));
    onDone();
  };
  return (
    <form
      class="gap-2 px-4 py-3 views-new"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextInput label="New name" value={name} maxLength={100} inputRef={focusOnce} onInput={setName} />
      <Button type="submit">Rename</Button>
    </form>
  );
}
