/** One version of an artifact: what it is, what changed in it, its files. */

import { Button, copyText, IconButton, Select } from "../../../components";
import { lazily } from "../../../components/lazily";
import { CopyIcon, DownloadIcon } from "../../../components/icons";
import { addressOf } from "../../../lib/api";
import { count, formatBytes, formatTime, visibleText } from "../../../lib/format";
import { shellWord } from "../../../lib/reproduce";
import type { ArtifactDiff, ArtifactName, ArtifactVersion, FileChange, RunDetail } from "../../../lib/schema";
import { useAnswer } from "../answer";
import { Pairs, wordsOf } from "../pieces";
import { goPart } from "../place";
import { FileBrowser } from "./browser";
import { against, choose, type VersionRef, writeRef } from "./settings";

const Lineage = lazily(() => import("./lineage").then((chunk) => chunk.Lineage));

export interface VersionProps {
  run: RunDetail;
  at: VersionRef;
  /** Not there for a saved step, whose files are looked at by its name. */
  one: ArtifactName | undefined;
}

export function Version({ run, at, one }: VersionProps) {
  const version = one?.versions.find((other) => other.version === at.version);
  return (
    <div class="vstack gap-3 scroll files-main in-order">
      <Head run={run} at={at} one={one} version={version} />
      {version ? <Facts run={run} version={version} /> : null}
      {against.value !== "" ? <Diff run={run} at={at} /> : null}
      <FileBrowser run={run.id} at={at} />
      {version && Object.keys(version.metadata).length > 0 ? (
        <Pairs title="Metadata" pairs={Object.entries(version.metadata)} />
      ) : null}
      {version ? <Lineage run={run.id} at={at} /> : null}
    </div>
  );
}

function Head({ run, at, one, version }: VersionProps & { version: ArtifactVersion | undefined }) {
  const others = one?.versions.filter((other) => other.version !== at.version) ?? [];
  const restore = `stepscope restore ${run.id} ${shellWord(`${at.name}:v${at.version}`)}`;
  return (
    <header class="hstack wraps gap-2 files-head">
      <h2 class="isolate ellipsis" title={visibleText(at.name)}>
        {visibleText(at.name)}
      </h2>
      {one && one.versions.length > 1 ? (
        <Select
          label="Version"
          value={String(at.version)}
          options={one.versions.map((other) => ({ value: String(other.version), label: `v${other.version}` }))}
          onChange={(value) => choose(writeRef({ name: at.name, version: Number(value) }))}
        />
      ) : (
        <span class="medium">v{at.version}</span>
      )}
      {version?.aliases.map((alias) => (
        <span key={alias} class="badge isolate ellipsis files-alias" data-tone="accent">
          {visibleText(alias)}
        </span>
      ))}
      <span class="spring" />
      {others.length > 0 ? (
        <Select
          label="Compare with another version"
          value={against.value}
          options={[
            { value: "", label: "Compare with…" },
            ...others.map((other) => ({ value: String(other.version), label: `changes since v${other.version}` })),
          ]}
          onChange={(value) => (against.value = value)}
        />
      ) : null}
      <Button kind="quiet" title={restore} onClick={() => void copyText(restore, "Command copied")}>
        <CopyIcon size={12} /> Restore
      </Button>
      <a class="button" href={addressOf("/api/artifact/zip", { run: run.id, ...at })} download="">
        <DownloadIcon size={14} /> Zip
      </a>
    </header>
  );
}

function Facts({ run, version }: { run: RunDetail; version: ArtifactVersion }) {
  const kept = version.files - version.references;
  return (
    <p class="hstack wraps soft anywhere files-facts">
      <span>{count(version.files, "file")}</span>
      {kept > 0 ? <span>{formatBytes(version.bytes)}</span> : null}
      {version.references > 0 ? (
        <span>
          {version.references === version.files
            ? "only a reference was kept"
            : `${count(version.references, "reference")} among them`}
        </span>
      ) : null}
      <span>logged {formatTime(version.time)}</span>
      {version.times > 1 ? <span>{version.times} times the same</span> : null}
      {version.step !== null ? (
        <button
          type="button"
          class="link"
          title="See this step in Charts"
          onClick={() => goPart("charts", { mark: String(version.step), artifact: "", file: "", folder: "" })}
        >
          step {version.step.toLocaleString("en-US")}
        </button>
      ) : null}
      <span class="mono" title={`SHA-256 over all files: ${version.digest}`}>
        {visibleText(version.digest.slice(0, 12))}
        <IconButton label="Copy the digest" onClick={() => void copyText(version.digest)}>
          <CopyIcon size={12} />
        </IconButton>
      </span>
      <span class="visually-hidden">of run {run.id}</span>
    </p>
  );
}

const SIGNS = { added: "+", removed: "−", changed: "~" } as const;

function Diff({ run, at }: { run: RunDetail; at: VersionRef }) {
  const other = Number(against.value);
  const [version, before] = at.version >= other ? [at.version, other] : [other, at.version];
  const { answer, fault } = useAnswer("POST /api/artifact/diff", {
    run: run.id,
    name: at.name,
    version,
    against: before,
  });
  return (
    <section class="card files-diff" aria-label="Changes">
      <header class="card-head">
        <h2>
          From v{before} to v{version}
        </h2>
        {answer ? <Counts diff={answer} /> : null}
        <Button kind="quiet" onClick={() => (against.value = "")}>
          Close
        </Button>
      </header>
      {fault ? <p class="anywhere quiet card-none">{fault instanceof Error ? fault.message : String(fault)}</p> : null}
      {answer?.changes.length === 0 && answer.metadata.length === 0 ? (
        <p class="anywhere quiet card-none">All files are the same.</p>
      ) : null}
      <ul class="files-changes">
        {answer?.changes.map((change) => (
          <Change key={change.path} change={change} />
        ))}
        {answer?.metadata.map(([name, was, now]) => (
          <li key={`meta ${name}`} data-kind="changed">
            <span class="files-sign">~</span>
            <span class="isolate">{visibleText(name)}</span>
            <span class="quiet">metadata</span>
            <span class="mono isolate">
              {visibleText(wordsOf(was ?? null))} → {visibleText(wordsOf(now ?? null))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Counts({ diff }: { diff: ArtifactDiff }) {
  return (
    <span class="gap-3 small files-counts">
      {(["added", "removed", "changed"] as const).map((kind) =>
        diff[kind] > 0 ? (
          <span key={kind} data-kind={kind}>{`${diff[kind].toLocaleString("en-US")} ${kind}`}</span>
        ) : null,
      )}
      <span class="quiet">{diff.same.toLocaleString("en-US")} the same</span>
    </span>
  );
}

function Change({ change }: { change: FileChange }) {
  const { before, after, kind } = change;
  const sizes =
    kind === "changed"
      ? `${formatBytes(before ?? 0)} → ${formatBytes(after ?? 0)}`
      : formatBytes((kind === "added" ? after : before) ?? 0);
  return (
    <li data-kind={kind}>
      <span class="files-sign" aria-label={kind}>
        {SIGNS[kind]}
      </span>
      <span class="mono isolate">{visibleText(change.path)}</span>
      <span />
      <span class="quiet">{sizes}</span>
    </li>
  );
}
