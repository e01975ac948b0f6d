/** The audit log, the newest first. */

import { useState } from "preact/hooks";
import { Button, ErrorState, Skeleton } from "../../components";
import { call } from "../../lib/api";
import { formatTimeZone, visibleText } from "../../lib/format";
import type { AuditRow } from "../../lib/schema";
import { attempt, useListed } from "./ask";

const PAGE = 200;

export function Audit() {
  const list = useListed(() => call("POST /api/audit", {}));
  const [older, setOlder] = useState<readonly AuditRow[]>([]);
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  if (!list.found) return <Skeleton height={60} />;
  const rows = [...list.found.entries, ...older];
  const last = rows.at(-1);
  const more = () =>
    attempt(async () => {
      const found = await call("POST /api/audit", { before: last?.id ?? null });
      setOlder([...older, ...found.entries]);
    }, "Not read");
  return (
    <section aria-labelledby="audit-title">
      <h2 id="audit-title">Audit log</h2>
      {rows.length === 0 ? <p class="quiet">Nothing has been changed yet.</p> : null}
      <table class="people-table">
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>{formatTimeZone(row.at)}</td>
              <td class="isolate">{visibleText(row.user)}</td>
              <td>{row.action}</td>
              <td class="isolate">{visibleText(row.subject)}</td>
              <td class="isolate quiet">{visibleText(row.detail)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length >= PAGE && rows.length % PAGE === 0 ? <Button onClick={() => void more()}>Older</Button> : null}
    </section>
  );
}
