/** The steps that a run saved for a replay, and the files of its own folder. */

import { copyText, IconButton } from "../../../components";
import { CopyIcon } from "../../../components/icons";
import { formatBytes, formatTime, visibleText } from "../../../lib/format";
import type { OwnFile, RunDetail, RunFiles, SavedStep } from "../../../lib/schema";
import { Section } from "../pieces";
import { choose, writeRef } from "./settings";

const WHY: Record<string, string> = {
  error: "raised an error",
  loss: "had a loss that is not finite",
  gradient: "had a gradient that is not finite",
};

export function SavedSteps({ run, steps }: { run: RunDetail; steps: readonly SavedStep[] }) {
  return (
    <div class="vstack gap-3 scroll files-main">
      <p class="files-lead">
        When a step fails, Stepscope keeps its batch, parameters, random numbers and source.{" "}
        <code>stepscope replay</code> runs that one step again, under a microscope.
      </p>
      {[...steps].reverse().map((one) => (
        <Saved key={`${one.name}.${one.version}`} run={run} one={one} />
      ))}
    </div>
  );
}

function Saved({ run, one }: { run: RunDetail; one: SavedStep }) {
  const rank = one.rank ? ` --rank ${one.rank}` : "";
  const command = `stepscope replay ${run.id} --step ${one.step}${rank}`;
  return (
    <Section
      title={`Step ${one.step.toLocaleString("en-US")} ${WHY[one.why] ?? "failed"}${one.rank ? `, rank ${one.rank}` : ""}`}
      aside={
        <button type="button" class="link" onClick={() => choose(writeRef(one))}>
          {formatBytes(one.bytes)} in its files
        </button>
      }
    >
      <div class="vstack gap-2 files-saved">
        {one.said ? <p class="isolate">{visibleText(one.said)}</p> : null}
        {one.problem ? (
          <p class="banner isolate files-broken" data-tone="bad">
            {visibleText(one.problem)}
          </p>
        ) : null}
        <dl>
          <Command text={command} does="run it again and trace every value" />
          <Command text={`${command} --pdb`} does="open a debugger where it fails" />
          <Command text={`${command} --current`} does="with the current code: is it fixed?" />
        </dl>
        {one.missing?.map((what) => (
          <p key={what} class="note-warn isolate">
            Not kept: {visibleText(what)}
          </p>
        ))}
      </div>
    </Section>
  );
}

function Command({ text, does }: { text: string; does: string }) {
  return (
    <div>
      <dt class="mono isolate">
        {visibleText(text)}
        <IconButton label={`Copy: ${does}`} onClick={() => void copyText(text, "Command copied")}>
          <CopyIcon size={12} />
        </IconButton>
      </dt>
      <dd>{does}</dd>
    </div>
  );
}

const KINDS: Record<OwnFile["kind"], string> = {
  about: "what the run is",
  log: "log",
  media: "media",
  compacted: "compacted logs",
  blobs: "larger media and artifacts",
  folder: "folder",
  other: "other",
}; // prettier-ignore

export function RunFolder({ files }: { files: RunFiles }) {
  return (
    <div class="vstack gap-3 scroll files-main">
      <p class="hstack wraps soft anywhere files-facts">
        <span class="mono isolate">
          {visibleText(files.path)}
          <IconButton label="Copy the path" onClick={() => void copyText(files.path)}>
            <CopyIcon size={12} />
          </IconButton>
        </span>
        <span>{formatBytes(files.bytes)}</span>
      </p>
      {files.damage.length > 0 ? (
        <section class="banner card card-warn" data-tone="warn" aria-label="Damage">
          {files.damage.map((line) => (
            <p key={line} class="isolate">
              {visibleText(line)}
            </p>
          ))}
        </section>
      ) : null}
      <Section
        title="The run folder"
        aside={<span class="quiet">{files.damage.length === 0 ? "all files intact" : ""}</span>}
      >
        <div class="scroll" tabIndex={0} role="group" aria-label="Files of the run folder">
          <table class="table-hover table metrics">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Holds</th>
                <th scope="col">Written by</th>
                <th scope="col" class="number">
                  Files
                </th>
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col" class="number">
                  Changed
                </th>
              </tr>
            </thead>
            <tbody>
              {files.own.map((one) => (
                <Own key={one.name} one={one} />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
    </div>
  );
}

function Own({ one }: { one: OwnFile }) {
  return (
    <tr>
      <th scope="row" class="mono isolate ellipsis" title={visibleText(one.name)}>
        {visibleText(one.name)}
      </th>
      <td>
        {KINDS[one.kind]}
        {one.damage ? <span class="small bad isolate">: {visibleText(one.damage)}</span> : null}
      </td>
      <td class="isolate quiet">{visibleText(one.about ?? "")}</td>
      <td class="number">{(one.files ?? 1).toLocaleString("en-US")}</td>
      <td class="number">{formatBytes(one.bytes)}</td>
      <td class="number quiet">{one.modified ? formatTime(one.modified) : ""}</td>
    </tr>
  );
}
