/** The code a run was made from: commit, branch, and what was changed and not committed. */

import { useMemo, useState } from "preact/hooks";
import { Button, copyText, IconButton } from "../../components";
import { ChevronDownIcon, ChevronRightIcon, CopyIcon, DownloadIcon } from "../../components/icons";
import { saveText } from "../../charts/download";
import { type DiffFile, type DiffLine, parseDiff, sizeOfDiff } from "../../lib/diff-text";
import { count, visibleText } from "../../lib/format";
import { webAddress } from "../../lib/reproduce";
import type { RunDetail } from "../../lib/schema";
import "../../style/diff.css";
import { diffName } from "./reproduce";
import { Section } from "./pieces";
import { bringUp } from "./place";

const DIFF_ID = "uncommitted";

export function Git({ run }: { run: RunDetail }) {
  const git = run.git;
  const files = useMemo(() => parseDiff(git?.diff ?? ""), [git?.diff]);
  if (!git) {
    return (
      <Section title="Code">
        <p class="anywhere quiet card-none">Not in a git repository: only the command is known.</p>
      </Section>
    );
  }
  const web = webAddress(git.remote, git.commit);
  return (
    <Section title="Code" aside={git.dirty ? <span class="note-warn">uncommitted changes</span> : null}>
      <dl class="px-4 py-2 facts pairs">
        <div>
          <dt>commit</dt>
          <dd class="hstack gap-1 mono run-commit">
            <Outside href={web?.commit ?? null}>{visibleText(git.commit.slice(0, 12)) || "none yet"}</Outside>
            {git.commit ? (
              <IconButton label="Copy the commit" onClick={() => void copyText(git.commit)}>
                <CopyIcon size={12} />
              </IconButton>
            ) : null}
          </dd>
        </div>
        {git.branch ? (
          <div>
            <dt>branch</dt>
            <dd class="isolate">{visibleText(git.branch)}</dd>
          </div>
        ) : null}
        {git.remote ? (
          <div>
            <dt>remote</dt>
            <dd class="isolate">
              <Outside href={web?.repository ?? null}>{visibleText(git.remote)}</Outside>
            </dd>
          </div>
        ) : null}
        {files.length > 0 ? (
          <div>
            <dt>changed</dt>
            <dd>
              <button type="button" class="link" onClick={() => bringUp(document.getElementById(DIFF_ID))}>
                <Size files={files} />
              </button>
            </dd>
          </div>
        ) : null}
      </dl>
      {git.dirty && files.length === 0 ? (
        <p class="anywhere quiet card-none">The changes themselves were not kept.</p>
      ) : null}
    </Section>
  );
}

/** A link out of the app, for addresses that were checked; else the words alone. */
function Outside({ href, children }: { href: string | null; children: string }) {
  if (!href) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function Size({ files }: { files: readonly DiffFile[] }) {
  const size = sizeOfDiff(files);
  return (
    <>
      {count(size.files, "file")} <Counts added={size.added} removed={size.removed} />
    </>
  );
}

function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="one-line">
      <span class="good">+{added.toLocaleString("en-US")}</span>{" "}
      <span class="bad">−{removed.toLocaleString("en-US")}</span>
    </span>
  );
}

/** All changes, file by file. */
export function Changes({ run }: { run: RunDetail }) {
  const diff = run.git?.diff ?? "";
  const files = useMemo(() => parseDiff(diff), [diff]);
  if (files.length === 0) return null;
  const size = sizeOfDiff(files);
  const small = size.added + size.removed <= 60;
  return (
    <Section
      id={DIFF_ID}
      title="Changes that were not committed"
      aside={
        <>
          <span class="quiet">
            <Size files={files} />
          </span>
          <IconButton label="Copy the diff" onClick={() => void copyText(diff, "Diff copied")}>
            <CopyIcon size={14} />
          </IconButton>
          <IconButton label="Download the diff" onClick={() => saveText(diff, "text/x-diff", diffName(run))}>
            <DownloadIcon size={14} />
          </IconButton>
        </>
      }
    >
      {run.git?.diff_truncated ? (
        <p class="card-line note-warn">The diff was longer than what is kept (1 MiB); its end is missing.</p>
      ) : null}
      <DiffFiles files={files} open={small} />
    </Section>
  );
}

/** Files of a diff, each folded away or open. */
function DiffFiles({ files, open }: { files: readonly DiffFile[]; open: boolean }) {
  return (
    <>
      {files.map((file, at) => (
        <FileDiff
          key={`${at} ${file.path}`}
          file={file}
          open={open || (files.length === 1 && file.added + file.removed < 400)}
        />
      ))}
    </>
  );
}

const MOST_LINES = 600;

function FileDiff({ file, open: first }: { file: DiffFile; open: boolean }) {
  const [open, setOpen] = useState(first);
  const name = visibleText(file.path) || "changes";
  return (
    <div class="diff-file">
      <button
        type="button"
        class="hstack gap-2 full to-left diff-head"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? <ChevronDownIcon size={14} /> : <ChevronRightIcon size={14} />}
        <span class="shrinks anywhere isolate mono">
          {file.from !== null ? `${visibleText(file.from)} → ` : ""}
          {name}
        </span>
        {file.change === "changed" ? null : <span class="badge">{file.change}</span>}
        <span class="spring" />
        {file.change === "binary" ? null : <Counts added={file.added} removed={file.removed} />}
      </button>
      {open ? <FileLines file={file} name={name} /> : null}
    </div>
  );
}

function FileLines({ file, name }: { file: DiffFile; name: string }) {
  const [all, setAll] = useState(false);
  const total = file.stretches.reduce((sum, stretch) => sum + stretch.lines.length, 0);
  if (total === 0)
    return (
      <p class="anywhere quiet card-none">{file.change === "binary" ? "Binary: not shown." : "No line changed."}</p>
    );
  let room = all ? Infinity : MOST_LINES;
  return (
    <div class="diff-lines mono" tabIndex={0} role="group" aria-label={`Changes of ${name}`}>
      {file.stretches.map((stretch, at) => {
        const lines = stretch.lines.slice(0, Math.max(0, room));
        room -= stretch.lines.length;
        if (lines.length === 0) return null;
        return (
          <div key={at} class="diff-stretch">
            {at > 0 || stretch.title ? (
              <div class="soft subtle isolate diff-title">{visibleText(stretch.title) || "⋯"}</div>
            ) : null}
            {lines.map((line, number) => (
              <DiffRow key={number} line={line} />
            ))}
          </div>
        );
      })}
      {!all && total > MOST_LINES ? (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show all {count(total, "line")}
        </Button>
      ) : null}
    </div>
  );
}

const SIGNS = { added: "+", removed: "−", same: "", note: "" } as const;

function DiffRow({ line }: { line: DiffLine }) {
  return (
    <div class="diff-row" data-kind={line.kind}>
      <span class="line-number diff-number">{line.before ?? ""}</span>
      <span class="line-number diff-number">{line.after ?? ""}</span>
      <span class="diff-sign">{SIGNS[line.kind]}</span>
      <span class="diff-text isolate">{visibleText(line.text)}</span>
    </div>
  );
}
