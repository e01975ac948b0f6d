import type { ComponentChildren } from "preact";
import type { Entry, EntryKind } from "../lib/palette-entries";
import { StatusDot } from "./status";
import {
  BookmarkIcon,
  BoxIcon,
  ChartIcon,
  ChevronRightIcon,
  FolderIcon,
  HelpIcon,
  ReportIcon,
  TerminalIcon,
  WarningIcon,
} from "./icons";
import { known, lookOfRun } from "../state";

const ICONS: Readonly<Record<Exclude<EntryKind, "run">, ComponentChildren>> = {
  page: <ChevronRightIcon size={14} />,
  action: <ChevronRightIcon size={14} />,
  view: <BookmarkIcon size={14} />,
  metric: <ChartIcon size={14} />,
  finding: <WarningIcon size={14} />,
  report: <ReportIcon size={14} />,
  artifact: <BoxIcon size={14} />,
  console: <TerminalIcon size={14} />,
  project: <FolderIcon size={14} />,
  help: <HelpIcon size={14} />,
};

/** A run is shown in its colour, anything else by its kind. */
export function iconOf(entry: Entry): ComponentChildren {
  if (entry.kind !== "run") return ICONS[entry.kind];
  const run = entry.id.split(":")[1] ?? "";
  const row = known.value.get(run);
  if (!row) return <span class="swatch-dot" style={{ color: lookOfRun(run).colour }} />;
  return row.status === "running" ? (
    <StatusDot status="running" word={false} />
  ) : (
    <span class="swatch-dot" style={{ color: lookOfRun(run).colour }} />
  );
}
