/** The files inside a version, folder by folder, and the one that is looked at. */

import { useEffect, useState } from "preact/hooks";
import { TextInput } from "../../../components";
import { DownloadIcon, FolderIcon, SearchIcon, FileIcon, WarningIcon } from "../../../components/icons";
import { addressOf } from "../../../lib/api";
import { count, formatBytes, visibleText } from "../../../lib/format";
import type { ArtifactEntry } from "../../../lib/schema";
import { useAnswer } from "../answer";
import { Preview } from "./preview";
import { file, folder, type VersionRef } from "./settings";

export function FileBrowser({ run, at }: { run: string; at: VersionRef }) {
  const [search, setSearch] = useState("");
  useEffect(() => setSearch(""), [at.name, at.version]);
  const { answer, fault } = useAnswer("POST /api/artifact", { run, ...at, folder: folder.value, search });
  const entries = answer?.entries ?? [];
  const only = entries.length === 1 && !entries[0]?.folder ? entries[0] : undefined;
  const shown = file.value || (!search && !folder.value ? (only?.path ?? "") : "");
  return (
    <>
      <section class="card" aria-label="Files of this version">
        <header class="card-head">
          <Crumbs name={at.name} />
          <TextInput
            class="card-search"
            label="Find files"
            placeholder="Find"
            icon={<SearchIcon size={12} />}
            value={search}
            onInput={setSearch}
          />
        </header>
        {fault ? (
          <p class="anywhere isolate quiet card-none">{fault instanceof Error ? fault.message : String(fault)}</p>
        ) : null}
        {answer && entries.length === 0 ? (
          <p class="anywhere quiet card-none">
            {search ? `No file has “${visibleText(search)}” in its path.` : "This folder is empty."}
          </p>
        ) : null}
        <ul class="files-list">
          {entries.map((entry) => (
            <Row key={entry.path} run={run} at={at} entry={entry} current={entry.path === shown} />
          ))}
        </ul>
        {answer && (answer.omitted ?? 0) > 0 ? (
          <p class="anywhere quiet card-none">
            {count(answer.omitted ?? 0, "more file")} here; find one by its name, or download the zip.
          </p>
        ) : null}
      </section>
      {shown ? <Preview run={run} at={at} path={shown} /> : null}
    </>
  );
}

/** The way to the folder; every part of it leads back there. */
function Crumbs({ name }: { name: string }) {
  const parts = folder.value ? folder.value.split("/") : [];
  return (
    <h2 class="files-crumbs isolate">
      <button type="button" class="link" disabled={parts.length === 0} onClick={() => (folder.value = "")}>
        {parts.length === 0 ? "Files" : visibleText(name)}
      </button>
      {parts.map((part, at) => (
        <span key={at}>
          {" / "}
          <button
            type="button"
            class="link"
            disabled={at === parts.length - 1}
            onClick={() => (folder.value = parts.slice(0, at + 1).join("/"))}
          >
            {visibleText(part)}
          </button>
        </span>
      ))}
    </h2>
  );
}

function Row({ run, at, entry, current }: { run: string; at: VersionRef; entry: ArtifactEntry; current: boolean }) {
  const open = () => {
    if (entry.folder) folder.value = entry.path;
    else file.value = current && file.peek() ? "" : entry.path;
  };
  return (
    <li data-bad={entry.problem ? true : undefined}>
      <button
        type="button"
        class="hstack gap-2 fill to-left files-row"
        aria-current={current ? "true" : undefined}
        onClick={open}
      >
        {entry.folder ? <FolderIcon size={14} /> : entry.problem ? <WarningIcon size={14} /> : <FileIcon size={14} />}
        <span class="isolate ellipsis">{visibleText(entry.name)}</span>
        {entry.problem ? <span class="small bad isolate ellipsis">{visibleText(entry.problem)}</span> : null}
        {entry.reference ? (
          <span class="quiet isolate ellipsis mono" title={visibleText(entry.reference)}>
            at {visibleText(entry.reference)}
          </span>
        ) : null}
        <span class="spring" />
        <span class="quiet">{entry.folder ? count(entry.files ?? 1, "file") : ""}</span>
        <span class="files-size">{entry.reference && !entry.size ? "" : formatBytes(entry.size)}</span>
      </button>
      {entry.folder || entry.reference || entry.problem ? (
        <span class="files-noget" />
      ) : (
        <a
          class="icon-button"
          href={addressOf("/api/artifact/file", { run, ...at, path: entry.path })}
          download=""
          aria-label={`Download ${visibleText(entry.name)}`}
          title="Download"
        >
          <DownloadIcon size={14} />
        </a>
      )}
    </li>
  );
}
