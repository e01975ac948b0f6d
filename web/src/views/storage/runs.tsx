/** The runs that take the most, of all projects or of one. */

import { ErrorState, Skeleton } from "../../components";
import { call } from "../../lib/api";
import { formatBytes, nameText, visibleText } from "../../lib/format";
import { linkTo } from "../../router";
import { useListed } from "../people/ask";
import { StorageBar } from "./bar";

const SHOWN = 20;

export function LargestRuns({ project }: { project: string | null }) {
  const list = useListed(() => call("POST /api/storage/runs", { project }), project ?? "");
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const runs = (list.found?.runs ?? []).slice(0, SHOWN).map((one) => ({ ...one, trash: 0 }));
  const size = (one: (typeof runs)[number]) => one.points + one.media + one.artifacts + one.other + one.incoming;
  const most = Math.max(1, ...runs.map(size));
  return (
    <section aria-labelledby="largest-title">
      <h2 id="largest-title">{project === null ? "Largest runs" : `Largest runs of ${visibleText(project)}`}</h2>
      {!list.found ? <Skeleton height={60} /> : null}
      {list.found && runs.length === 0 ? <p class="quiet">No run has been measured yet.</p> : null}
      {runs.length > 0 ? (
        <table class="people-table">
          <tbody>
            {runs.map((one) => (
              <tr key={one.id}>
                <td class="isolate">
                  {one.trashed ? nameText(one.name) : <a href={linkTo(`/run/${one.id}`)}>{nameText(one.name)}</a>}
                  {one.trashed ? <span class="quiet"> in the trash</span> : null}
                </td>
                <td class="isolate quiet">{visibleText(project === null ? one.project : one.user)}</td>
                <td class="number">{formatBytes(size(one))}</td>
                <td class="storage-wide">
                  <StorageBar sizes={one} most={most} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </section>
  );
}
