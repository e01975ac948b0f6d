/** A closer look at a run when the mouse rests on its name; beside the names, so that they stay readable. */

import { signal } from "@preact/signals";
import { StatusDot } from "../../components";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { formatAge, formatCell, formatDuration, formatNumber, visibleText } from "../../lib/format";
import type { Cell, RunDetail } from "../../lib/schema";
import { rows } from "./data";

const REST_MS = 450;
const MOST = 8;
const TALLEST = 320;

interface Peek {
  id: string;
  left: number;
  top: number;
  detail: RunDetail | null;
}

const peek = signal<Peek | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;
const kept = new Map<string, RunDetail>();

export function startPeek(id: string, from: HTMLElement): void {
  clearTimeout(timer);
  timer = setTimeout(() => void open(id, from), REST_MS);
}

export function endPeek(): void {
  clearTimeout(timer);
  peek.value = null;
}

async function open(id: string, from: HTMLElement): Promise<void> {
  const box = (from.closest(".cell") ?? from).getBoundingClientRect();
  const version = rows.peek().get(id)?.row.version;
  const old = kept.get(id);
  const detail = old && old.version === version ? old : null;
  const place = { id, left: Math.min(box.right + 6, innerWidth - 400), top: box.top - 8 };
  if (detail) peek.value = { ...place, detail };
  else {
    const found = await call("POST /api/run", { run: id }).catch(() => null);
    if (!found || !from.matches(":hover")) return;
    if (kept.size > 200) kept.clear();
    kept.set(id, found);
    peek.value = { ...place, detail: found };
  }
}

export function PeekCard() {
  const shown = peek.value;
  if (!shown?.detail) return null;
  const { detail } = shown;
  const top = Math.max(8, Math.min(shown.top, innerHeight - TALLEST - 8));
  const config = Object.entries(detail.config);
  const summary = detail.summary.filter((one) => !one.key.startsWith("system/"));
  return (
    <div class="vstack clipped floating tip peek" role="tooltip" style={{ left: shown.left, top, maxHeight: TALLEST }}>
      <header>
        <strong class="isolate ellipsis">{visibleText(detail.name)}</strong>
        <StatusDot status={detail.status} />
      </header>
      <p class="quiet">
        <span class="isolate">{visibleText(detail.project)}</span> · {formatAge(detail.created, now.value)} ·{" "}
        {formatDuration(detail.duration_s)}
        {detail.environment.host ? <span class="isolate"> · {visibleText(detail.environment.host)}</span> : null}
      </p>
      {detail.error ? <p class="clipped anywhere bad isolate peek-error">{visibleText(detail.error)}</p> : null}
      {detail.notes ? <p class="clipped soft isolate peek-notes">{visibleText(detail.notes)}</p> : null}
      <div class="peek-columns">
        <Pairs title="Config" pairs={config.map(([key, value]) => [key, wordsOf(value)])} />
        <Pairs title="Metrics" pairs={summary.map((one) => [one.key, formatCell(one.chosen ?? one.last)])} />
      </div>
    </div>
  );
}

function wordsOf(value: unknown): string {
  if (typeof value === "number") return formatNumber(value);
  return typeof value === "string" ? value : formatCell(isCell(value) ? value : JSON.stringify(value));
}

function isCell(value: unknown): value is Cell {
  return value === null || typeof value === "boolean";
}

function Pairs({ title, pairs }: { title: string; pairs: readonly (readonly [string, string])[] }) {
  if (pairs.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {pairs.slice(0, MOST).map(([key, value]) => (
          <div key={key}>
            <dt class="isolate ellipsis">{visibleText(key)}</dt>
            <dd class="isolate ellipsis">{visibleText(value)}</dd>
          </div>
        ))}
      </dl>
      {pairs.length > MOST ? <p class="quiet">and {pairs.length - MOST} more</p> : null}
    </section>
  );
}
