/** On the left: every version of every artifact, the saved steps, the run folder. */

import type { ComponentChildren } from "preact";
import { FolderIcon, ResetIcon, TagIcon } from "../../../components/icons";
import { count, formatBytes, visibleText } from "../../../lib/format";
import type { ArtifactName, RunFiles } from "../../../lib/schema";
import { choose, writeRef } from "./settings";

const SHOWN_VERSIONS = 8;

export function FilesNav({ files, now }: { files: RunFiles; now: string }) {
  return (
    <nav class="vstack gap-4 scroll files-nav" aria-label="Files">
      {files.artifacts.map((one) => (
        <Versions key={one.name} one={one} now={now} />
      ))}
      {files.omitted > 0 ? <p class="quiet">{count(files.omitted, "older version")} not listed</p> : null}
      <div class="files-other">
        {files.saved_steps.length > 0 ? (
          <Item value="~steps" now={now} icon={<ResetIcon size={14} />} note={String(files.saved_steps.length)}>
            Saved steps
          </Item>
        ) : null}
        <Item
          value="~folder"
          now={now}
          icon={<FolderIcon size={14} />}
          note={formatBytes(files.bytes)}
          bad={files.damage.length > 0}
        >
          Run folder
        </Item>
      </div>
    </nav>
  );
}

function Versions({ one, now }: { one: ArtifactName; now: string }) {
  const shown = one.versions.filter(
    (version, at) => at < SHOWN_VERSIONS || writeRef({ name: one.name, version: version.version }) === now,
  );
  const rest = one.versions.length - shown.length;
  return (
    <section class="files-name">
      <h2>
        <TagIcon size={13} />
        <span class="isolate ellipsis" title={visibleText(one.name)}>
          {visibleText(one.name)}
        </span>
        <span class="quiet isolate">{visibleText(one.type)}</span>
      </h2>
      {shown.map((version) => (
        <Item
          key={version.version}
          value={writeRef({ name: one.name, version: version.version })}
          now={now}
          note={version.references === version.files ? "reference" : formatBytes(version.bytes)}
        >
          <span class="medium">v{version.version}</span>
          {version.aliases.map((alias) => (
            <span key={alias} class="badge isolate ellipsis files-alias" data-tone="accent">
              {visibleText(alias)}
            </span>
          ))}
        </Item>
      ))}
      {rest > 0 ? <p class="quiet files-rest">{count(rest, "older version")}: choose them in the title</p> : null}
    </section>
  );
}

interface ItemProps {
  value: string;
  now: string;
  note: string;
  icon?: ComponentChildren;
  bad?: boolean;
  children?: ComponentChildren;
}

function Item({ value, now, note, icon, bad = false, children }: ItemProps) {
  return (
    <button
      type="button"
      class="option"
      aria-current={value === now ? "true" : undefined}
      onClick={() => choose(value)}
    >
      {icon}
      <span class="inline ellipsis files-label">{children}</span>
      {bad ? <span class="small bad">damaged</span> : null}
      <span class="quiet">{note}</span>
    </button>
  );
}
