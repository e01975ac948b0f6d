/** The parts of a run as tabs: arrows move, a number or a click goes there. What has nothing is quiet, but there. */

import { useRef } from "preact/hooks";
import { useChosenInSight } from "../../components/in-sight";
import { count } from "../../lib/format";
import type { RunDetail } from "../../lib/schema";
import { goPart, linkToPart, part, type PartId, PARTS, TITLES } from "./place";

export const panelId = "run-part";
export const tabId = (id: PartId) => `run-tab-${id}`;

export function PartTabs({ run }: { run: RunDetail }) {
  const list = useRef<HTMLDivElement>(null);
  const chosen = part.value;
  useChosenInSight(list, chosen);
  const move = (event: KeyboardEvent) => {
    const at = PARTS.indexOf(chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: PARTS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const id = PARTS[(to + PARTS.length) % PARTS.length] as PartId;
    goPart(id);
    list.current?.querySelector<HTMLElement>(`#${tabId(id)}`)?.focus();
  };
  return (
    <div ref={list} class="tab-line run-tabs" role="tablist" aria-label="Parts of the run" onKeyDown={move}>
      {PARTS.map((id, at) => (
        <Tab key={id} id={id} run={run} number={at + 1} />
      ))}
    </div>
  );
}

function Tab({ id, run, number }: { id: PartId; run: RunDetail; number: number }) {
  const chosen = part.value === id;
  const badge = id === "findings" ? gravity(run) : null;
  const empty = isEmpty(id, run);
  const key = number < 10 ? ` (${number})` : "";
  const pick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goPart(id);
  };
  return (
    <a
      id={tabId(id)}
      role="tab"
      href={linkToPart(run.id, id)}
      aria-selected={chosen}
      aria-controls={chosen ? panelId : undefined}
      tabIndex={chosen ? 0 : -1}
      data-empty={empty || undefined}
      title={`${TITLES[id]}${key}${empty ? ": nothing in this run" : ""}`}
      onClick={pick}
    >
      {TITLES[id]}
      {badge ? (
        <span class="badge run-badge" data-level={badge.level}>
          <span aria-hidden="true">{badge.count}</span>
          <span class="visually-hidden">, {count(badge.count, "finding")}</span>
        </span>
      ) : null}
    </a>
  );
}

function gravity({ findings }: RunDetail): { count: number; level: string } | null {
  const first = findings[0]; // the gravest first
  return first ? { count: findings.length, level: first.severity } : null;
}

export function isEmpty(id: PartId, { parts, findings }: RunDetail): boolean {
  const has: Record<PartId, number> = {
    overview: 1,
    charts: parts.metrics,
    findings: findings.length,
    media: parts.media,
    distributions: parts.distributions,
    model: parts.recordings,
    profile: parts.profiles,
    console: parts.console,
    system: parts.system,
    ranks: parts.ranks,
    files: 1, // the run folder's own files are always there
    step: parts.recordings,
  };
  return has[id] === 0;
}
