/** Projects by size: what fills them, what they keep, and how much they may fill. */

import { useState } from "preact/hooks";
import { Button } from "../../components";
import { visibleText } from "../../lib/format";
import type { ProjectStorage, Storage } from "../../lib/schema";
import { describeRetention, totalBytes, usedOf } from "../../lib/storage";
import { Legend, StorageBar } from "./bar";
import { RetentionForm } from "./retention";

interface ProjectsProps {
  storage: Storage;
  onChange: (found: Storage) => void;
  chosen: string | null;
  onChoose: (project: string | null) => void;
}

export function Projects({ storage, onChange, chosen, onChoose }: ProjectsProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const most = Math.max(1, ...storage.projects.map(totalBytes));
  return (
    <section aria-labelledby="projects-title">
      <h2 id="projects-title">Projects</h2>
      <Legend />
      <table class="people-table">
        <thead>
          <tr>
            <th>Project</th>
            <th class="number">Runs</th>
            <th class="number">Size</th>
            <th class="storage-wide">By kind</th>
            <th>Keeps</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {storage.projects.map((one) => (
            <tr key={one.project} aria-current={one.project === chosen ? "true" : undefined}>
              <td class="isolate">
                {one.project === "*" ? (
                  <span class="quiet storage-others">All other projects</span>
                ) : (
                  <button
                    type="button"
                    class="storage-project"
                    aria-pressed={one.project === chosen}
                    title="Show its largest runs"
                    onClick={() => onChoose(one.project === chosen ? null : one.project)}
                  >
                    {visibleText(one.project)}
                  </button>
                )}
              </td>
              <td class="number" data-label="Runs">
                {one.project === "*" ? "" : one.runs.toLocaleString("en-US")}
              </td>
              <td class="number">{sizeOf(one)}</td>
              <td>{one.project === "*" ? null : <StorageBar sizes={one} most={most} />}</td>
              <td class={one.own ? "" : "quiet"} data-label="Keeps">
                {describeRetention(one.retention)}
              </td>
              <td class="storage-actions">
                {one.may_change ? (
                  <Button kind="quiet" onClick={() => setEdited(edited === one.project ? null : one.project)}>
                    {edited === one.project ? "Close" : "Change"}
                  </Button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {storage.projects
        .filter((one) => one.project === edited)
        .map((one) => (
          <RetentionForm
            key={one.project}
            project={one}
            onChange={onChange}
            onClose={() => setEdited(null)}
            mayQuota={storage.users.length > 0}
          />
        ))}
    </section>
  );
}

const sizeOf = (one: ProjectStorage): string =>
  one.project === "*"
    ? one.quota_bytes === null
      ? ""
      : usedOf(0, one.quota_bytes)
    : usedOf(totalBytes(one), one.quota_bytes);
