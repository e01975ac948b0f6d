/** What the run kept in files: artifacts by version, saved steps, its own folder. */

import { useMemo } from "preact/hooks";
import { EmptyState, ErrorState, Lesson, Lessons, Skeleton } from "../../../components";
import { FolderIcon } from "../../../components/icons";
import type { RunDetail, RunFiles } from "../../../lib/schema";
import "../../../style/files.css";
import { useAnswer } from "../answer";
import { FilesNav } from "../files/nav";
import { RunFolder, SavedSteps } from "../files/own";
import { arriveAt, chosen, readRef, writeRef } from "../files/settings";
import { Version } from "../files/version";

const KEEP = `run.log_artifact("best.pt", name="model", aliases="best")`;
const KEEP_MANY = `run.log_artifact("outputs/", name="outputs")
run.log_artifact("s3://bucket/data.tar", reference=True)`;

export function FilesPart({ run }: { run: RunDetail }) {
  useMemo(() => arriveAt(run.id), [run.id]);
  const { answer: files, fault, again } = useAnswer("POST /api/files", { run: run.id }, run.version);
  if (!files) return fault ? <ErrorState error={fault} onRetry={again} /> : <Waiting />;
  const now = chosen.value || firstOf(files);
  return (
    <div class="fill-down files-part">
      <FilesNav files={files} now={now} />
      <Body run={run} files={files} now={now} />
    </div>
  );
}

/** The newest version of what was logged last; then a saved step; then the folder. */
function firstOf(files: RunFiles): string {
  const first = files.artifacts[0];
  const version = first?.versions[0];
  if (first && version) return writeRef({ name: first.name, version: version.version });
  return files.saved_steps.length > 0 ? "~steps" : "~folder";
}

function Body({ run, files, now }: { run: RunDetail; files: RunFiles; now: string }) {
  const at = readRef(now);
  if (at) return <Version key={now} run={run} at={at} one={files.artifacts.find((one) => one.name === at.name)} />;
  if (now === "~steps") return <SavedSteps run={run} steps={files.saved_steps} />;
  return (
    <div class="scroll files-folder">
      <RunFolder files={files} />
      {files.artifacts.length === 0 ? <Nothing /> : null}
    </div>
  );
}

function Nothing() {
  return (
    <EmptyState title="No artifacts yet" icon={FolderIcon}>
      <p>
        Weights, datasets, tables: files kept with the run under a name. The same content keeps its version, new content
        gets the next one.
      </p>
      <Lessons>
        <Lesson title="Keep a file" text={KEEP} />
        <Lesson title="A folder, or a reference" text={KEEP_MANY} />
      </Lessons>
    </EmptyState>
  );
}

function Waiting() {
  return (
    <div class="fill-down files-part" aria-busy="true">
      <div class="vstack gap-4 scroll files-nav">
        <Skeleton width="80%" />
        <Skeleton width="60%" />
      </div>
      <div class="vstack gap-3 scroll files-main">
        <Skeleton width="30%" height={22} />
        <Skeleton height={160} />
      </div>
    </div>
  );
}
