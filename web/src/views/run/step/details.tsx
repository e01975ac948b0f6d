/** One op with everything about it: its line, what it read and made, where that came from and went. */

import { copyText, ErrorState, IconButton, Skeleton } from "../../../components";
import { CloseIcon, CopyIcon } from "../../../components/icons";
import { formatBytes, visibleText } from "../../../lib/format";
import { formatCount, formatMicros } from "../../../lib/graph-words";
import type { OpDetail, OpLink, OpRow } from "../../../lib/schema";
import { useAnswer } from "../answer";
import { goPart } from "../place";
import type { Recording } from "./data";
import { ModuleName, Tensors } from "./pieces";
import * as settings from "./settings";

export function OpDetails({ recording, index }: { recording: Recording; index: number }) {
  const { answer, fault, waiting, again } = useAnswer("POST /api/step/op", { ...recording, index });
  return (
    <aside class="aside step-details" aria-label={`Op ${index}`} aria-busy={waiting}>
      <header>
        <h2 class="isolate ellipsis">
          <span class="quiet">{index}</span> {answer ? visibleText(answer.row.name) : ""}
        </h2>
        <IconButton label="Close (Esc)" onClick={() => (settings.op.value = "")}>
          <CloseIcon size={14} />
        </IconButton>
      </header>
      {fault ? (
        <ErrorState error={fault} onRetry={again} />
      ) : answer ? (
        <Body detail={answer} recording={recording} />
      ) : (
        <Skeleton height={80} />
      )}
    </aside>
  );
}

function Body({ detail, recording }: { detail: OpDetail; recording: Recording }) {
  const { row } = detail;
  return (
    <>
      {row.born ? (
        <p class="banner step-born" data-tone="bad">
          Here values stopped being finite, and it reached the loss or a gradient.
        </p>
      ) : null}
      {row.error ? (
        <p class="banner isolate step-born" data-tone="bad">
          {visibleText(row.error)}
        </p>
      ) : null}
      <Facts row={row} detail={detail} />
      <Source detail={detail} />
      <Tensors title="Read" tensors={detail.inputs} onOp={settings.showOp} />
      <Tensors title="Made" tensors={detail.outputs} onOp={settings.showOp} />
      <Links title="Read next by" links={detail.readers} />
      {detail.forward ? <Links title="Differentiates" links={[detail.forward]} /> : null}
      <Links title="Differentiated by" links={detail.backward} />
      <button type="button" class="button" onClick={() => openInModel(recording, row)}>
        Show in the graph of the model
      </button>
    </>
  );
}

export function openInModel(recording: Recording, { index, phase }: { index: number; phase: string }): void {
  goPart("model", {
    of: recording.run,
    recording: `${recording.step}:${recording.key}`,
    op: String(index),
    backward: phase === "backward" ? "1" : "",
    optimizer: phase === "optimizer" ? "1" : "",
  });
}

function Facts({ row, detail }: { row: OpRow; detail: OpDetail }) {
  const facts: [string, string][] = [
    ["phase", row.phase],
    ["arguments", visibleText(detail.args)],
    ["time", row.time_us === null || row.time_us === undefined ? "" : formatMicros(row.time_us)],
    ["FLOPs", row.flops === null || row.flops === undefined ? "no formula" : formatCount(row.flops)],
    ["saved for backward", row.saved_bytes ? formatBytes(row.saved_bytes) : ""],
    ["", row.mark ?? ""],
  ];
  return (
    <dl class="facts">
      <div>
        <dt>module</dt>
        <dd>
          {row.module ? (
            <button
              type="button"
              class="link"
              title="Only ops of this module"
              onClick={() => (settings.module.value = row.module ?? "")}
            >
              <ModuleName path={row.module} />
            </button>
          ) : (
            <ModuleName path={row.module} />
          )}
        </dd>
      </div>
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="isolate">{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

function Source({ detail }: { detail: OpDetail }) {
  if (!detail.file || detail.line === null) return null;
  const place = `${detail.file}:${detail.line}`;
  return (
    <section class="step-source" aria-label="Source">
      <h3>
        <span class="mono isolate ellipsis" title={visibleText(place)}>
          {visibleText(detail.row.place ?? "")}
        </span>
        {detail.function && detail.function !== "<module>" ? (
          <span class="quiet isolate">in {visibleText(detail.function)}</span>
        ) : null}
        <IconButton label="Copy the place" onClick={() => void copyText(place)}>
          <CopyIcon size={12} />
        </IconButton>
      </h3>
      <div class="framed subtle mono source" tabIndex={0} role="group" aria-label="Lines of source">
        {detail.excerpt.map((line, at) => (
          <div
            key={line.number}
            class={line.here ? "source-line source-hit" : "source-line"}
            data-gap={at > 0 && line.number > (detail.excerpt[at - 1]?.number ?? 0) + 1 ? true : undefined}
          >
            <span class="line-number">{line.number}</span>
            <span class="source-text isolate">
              {line.here ? <b>{visibleText(line.text)}</b> : visibleText(line.text)}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}

function Links({ title, links }: { title: string; links: readonly OpLink[] }) {
  if (links.length === 0) return null;
  return (
    <section class="step-links">
      <h3>{title}</h3>
      {links.map((link) => (
        <button
          key={link.index}
          type="button"
          class="link isolate"
          title={visibleText(link.module ?? "")}
          onClick={() => settings.showOp(link.index)}
        >
          {link.index} {visibleText(link.name)}
        </button>
      ))}
    </section>
  );
}
