/** Queries that were saved in the store, and those that were used last in this browser. */

import { useEffect } from "preact/hooks";
import { Menu, type MenuItem, toast } from "../../components";
import { BookmarkIcon, HistoryIcon, PlusIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { dropView, loadViews, saveQuery, viewsHere } from "../../saved-views";
import { queryError } from "./data";
import { recent } from "./recent-queries";
import { query } from "./settings";

/** A view that holds nothing but a query. */
const isQuery = (view: { page: string; query: Readonly<Record<string, string>> }): boolean =>
  view.page === "/runs" && Object.keys(view.query).join() === "q";

export function SavedQueries() {
  useEffect(() => void loadViews(), []);
  const now = query.value;
  const saved = viewsHere.value.filter(isQuery);
  const mine = saved.find((view) => view.query.q === now);
  const items: MenuItem[] = [];
  if (mine)
    items.push({
      key: "drop",
      label: "Forget this query",
      icon: <BookmarkIcon size={14} />,
      onPick: () => void trying(dropView(mine)),
    });
  else if (now && !queryError.value)
    items.push({
      key: "save",
      label: "Save this query",
      icon: <PlusIcon size={14} />,
      onPick: () => void trying(saveQuery(now)),
    });
  for (const view of saved)
    items.push({
      key: view.id,
      label: visibleText(view.name),
      icon: <BookmarkIcon size={14} />,
      onPick: () => (query.value = view.query.q ?? ""),
    });
  for (const text of recent().filter((one) => one !== now && !saved.some((view) => view.query.q === one)))
    items.push({
      key: `recent ${text}`,
      label: visibleText(text),
      icon: <HistoryIcon size={14} />,
      onPick: () => (query.value = text),
    });
  if (items.length === 0) items.push({ key: "none", label: "Write a query to save it here", onPick: () => undefined });
  return (
    <Menu
      label="Saved queries"
      button={<BookmarkIcon size={14} />}
      buttonClass="icon-button query-saved"
      items={items}
      align="end"
    />
  );
}

async function trying(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "error", "Not saved");
  }
}
