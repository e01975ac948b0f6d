/** The Storage page: the disk, the projects with what they keep, the users, and the runs that take the most. */

import { useState } from "preact/hooks";
import { EmptyState, ErrorState, Skeleton } from "../../components";
import { ApiError, call } from "../../lib/api";
import { count, formatBytes } from "../../lib/format";
import type { Storage } from "../../lib/schema";
import "../../style/people.css";
import "../../style/storage.css";
import { useListed } from "../people/ask";
import { Projects } from "./projects";
import { LargestRuns } from "./runs";
import { StorageUsers } from "./users";

export function StoragePage() {
  const list = useListed<Storage>(() => call("POST /api/storage", {}));
  const [project, setProject] = useState<string | null>(null);
  if (list.fault instanceof ApiError && list.fault.status === 404) {
    return (
      <EmptyState title="This app keeps no storage accounts">
        <p>It shows the runs of one person. `stepscope server` collects the runs of a team, and says what fills it.</p>
      </EmptyState>
    );
  }
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const found = list.found;
  if (!found) return <Skeleton height={160} />;
  return (
    <div class="people storage">
      <header class="people-bar">
        <h1>Storage</h1>
        <span class="quiet">
          {formatBytes(found.disk_free)} of {formatBytes(found.disk_total)} free on the server's disk
          {found.waiting > 0 ? `, ${count(found.waiting, "job")} waiting` : ""}
        </span>
      </header>
      <Projects storage={found} onChange={list.set} chosen={project} onChoose={setProject} />
      <LargestRuns project={project} />
      {found.users.length > 0 ? <StorageUsers users={found.users} onChange={list.set} /> : null}
      {found.failing.length > 0 ? <Failing storage={found} /> : null}
    </div>
  );
}

function Failing({ storage }: { storage: Storage }) {
  return (
    <section aria-labelledby="failing-title">
      <h2 id="failing-title">Jobs that fail</h2>
      <table class="people-table">
        <tbody>
          {storage.failing.map((job) => (
            <tr key={`${job.kind} ${job.subject}`}>
              <td>{job.kind}</td>
              <td class="isolate">{job.subject}</td>
              <td>{count(job.tries, "try", "tries")}</td>
              <td class="isolate">{job.error}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
