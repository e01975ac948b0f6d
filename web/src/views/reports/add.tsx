/** "Add to report…": puts a panel at the end of a report that is there, or begins one with it. */

import { useEffect, useState } from "preact/hooks";
import { Button, Dialog, ErrorState, Skeleton, TextInput, toast } from "../../components";
import { PlusIcon, ReportIcon, SearchIcon } from "../../components/icons";
import { now } from "../../clock";
import { ApiError, call } from "../../lib/api";
import { formatAge, visibleText } from "../../lib/format";
import { appendBlock, type Options, panelText } from "../../lib/report-text";
import type { Reports } from "../../lib/schema";
import { linkTo } from "../../router";
import "../../style/report-dialogs.css";
import { NOTHING_OPEN } from "./begin";

export interface AddToReportProps {
  panel: string;
  /** What the panel shows, for the title of a new report. */
  about?: string;
  options: Options;
  /** The panel's runs: those of the report may be others. */
  runs: readonly string[];
  onClose(): void;
}

const TRIES = 3;

/** Saves a text with the panel at its end; somebody else may be saving too, then it is done again on theirs. */
async function append(id: string, block: string): Promise<void> {
  for (let left = TRIES; ; left--) {
    const page = await call("POST /api/report", { id });
    try {
      await call("POST /api/report/save", { id, text: appendBlock(page.text, block), base: page.newest });
      return;
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.status !== 409 || left <= 1) throw fault;
    }
  }
}

export function AddToReport({ panel, about, options, runs, onClose }: AddToReportProps) {
  const [found, setFound] = useState<Reports | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [find, setFind] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => void call("POST /api/reports", {}).then(setFound, setFault), []);
  const block = panelText(panel, { ...options, runs: runs.join(", ") });
  const done = (id: string, title: string) => {
    toast("Added at the end", "info", visibleText(title), linkTo(`/report/${id}`, NOTHING_OPEN));
    onClose();
  };
  const guarded = (work: () => Promise<void>) => {
    setBusy(true);
    work().catch((error: unknown) => (setFault(error), setBusy(false)));
  };
  const addTo = (id: string, title: string) => guarded(async () => (await append(id, block), done(id, title)));
  const addNew = () =>
    guarded(async () => {
      const title = `Notes on ${about ?? String(options.key ?? panel)}`;
      const saved = await call("POST /api/report/save", {
        id: null,
        text: `---\ntitle: ${JSON.stringify(title)}\n---\n\n${block}\n`,
        base: 0,
      });
      done(saved.id, title);
    });
  const fits = found?.reports.filter((row) => row.title.toLowerCase().includes(find.trim().toLowerCase())) ?? [];
  return (
    <Dialog title="Add to a report" onClose={onClose}>
      {fault ? (
        <ErrorState error={fault} />
      ) : found === null ? (
        <Skeleton height={120} />
      ) : found.read_only ? (
        <p>This server is read-only: reports cannot be changed here.</p>
      ) : (
        <div class="vstack gap-3 add-report" aria-busy={busy}>
          {found.reports.length > 6 ? (
            <TextInput
              label="Find a report"
              placeholder="Find a report"
              icon={<SearchIcon size={14} />}
              value={find}
              onInput={setFind}
            />
          ) : null}
          <ul>
            {fits.slice(0, 50).map((row) => (
              <li key={row.id}>
                <button type="button" class="menu-item" disabled={busy} onClick={() => addTo(row.id, row.title)}>
                  <ReportIcon size={14} />
                  <span class="menu-label isolate ellipsis">{visibleText(row.title)}</span>
                  <span class="menu-hint">{formatAge(row.changed, now.value)}</span>
                </button>
              </li>
            ))}
          </ul>
          <Button disabled={busy} onClick={addNew}>
            <PlusIcon size={14} /> A new report
          </Button>
        </div>
      )}
    </Dialog>
  );
}
