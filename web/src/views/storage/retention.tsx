/** What a project keeps: a form with a dry run, so that nobody removes more than they meant to. */

import { useState } from "preact/hooks";
import { Button, TextInput } from "../../components";
import { call } from "../../lib/api";
import { count, formatBytes, visibleText } from "../../lib/format";
import type { ProjectStorage, Retention, RetentionPreview, Storage } from "../../lib/schema";
import { parseBytes, parseLimit } from "../../lib/storage";
import { attempt } from "../people/ask";

interface RetentionFormProps {
  project: ProjectStorage;
  mayQuota: boolean;
  onChange: (found: Storage) => void;
  onClose: () => void;
}

const FIELDS = [
  ["points_days", "Keep all points for (days)"],
  ["media_newest", "Newest media per key"],
  ["artifact_days", "Keep unused artifacts for (days)"],
  ["trash_days", "Keep trash for (days)"],
] as const;

const shown = (value: number | null | undefined): string => (value == null ? "" : String(value));

export function RetentionForm({ project, mayQuota, onChange, onClose }: RetentionFormProps) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(FIELDS.map(([key]) => [key, shown(project.retention[key])])),
  );
  const [quota, setQuota] = useState(project.quota_bytes === null ? "" : formatBytes(project.quota_bytes));
  const [preview, setPreview] = useState<RetentionPreview | null>(null);
  const limits = FIELDS.map(([key]) => parseLimit(texts[key] ?? ""));
  const quotaBytes = parseBytes(quota);
  const sound = limits.every((one) => one !== undefined) && limits[3] !== null && quotaBytes !== undefined;
  const retention: Retention = {
    points_days: limits[0] ?? null,
    media_newest: limits[1] ?? null,
    artifact_days: limits[2] ?? null,
    trash_days: limits[3] ?? 30,
  };
  const name = project.project;
  const look = () =>
    attempt(
      async () => setPreview(await call("POST /api/storage/preview", { project: name, retention })),
      "No preview",
    );
  const save = () =>
    attempt(async () => {
      let found = await call("POST /api/storage/policy", { project: name, retention });
      if (mayQuota && quotaBytes !== undefined && quotaBytes !== project.quota_bytes)
        found = await call("POST /api/storage/quota", { kind: "project", name, quota_bytes: quotaBytes });
      onChange(found);
      onClose();
    }, "Not changed");
  return (
    <form
      class="storage-form"
      aria-label={`What ${name} keeps`}
      onSubmit={(event) => (event.preventDefault(), void save())}
    >
      <h3>{name === "*" ? "What all other projects keep" : `What ${visibleText(name)} keeps`}</h3>
      {FIELDS.map(([key, label], at) => (
        <label key={key}>
          <span class="quiet">{label}</span>
          <TextInput
            label={label}
            placeholder="No limit"
            value={texts[key] ?? ""}
            bad={limits[at] === undefined || (key === "trash_days" && limits[at] === null)}
            onInput={(text) => (setTexts({ ...texts, [key]: text }), setPreview(null))}
          />
        </label>
      ))}
      {mayQuota ? (
        <label>
          <span class="quiet">Quota</span>
          <TextInput
            label="Quota"
            placeholder="No limit"
            value={quota}
            bad={quotaBytes === undefined}
            onInput={setQuota}
          />
        </label>
      ) : null}
      <div class="storage-form-buttons">
        <Button onClick={() => void look()} disabled={!sound}>
          Preview
        </Button>
        <Button type="submit" kind="primary" disabled={!sound}>
          Save
        </Button>
        {project.own && name !== "*" ? (
          <Button kind="quiet" onClick={() => void inherit()}>
            Use the settings of all projects
          </Button>
        ) : null}
        {preview ? <span role="status">{said(preview)}</span> : null}
      </div>
    </form>
  );

  function inherit() {
    return attempt(async () => {
      onChange(await call("POST /api/storage/policy", { project: name, retention: null }));
      onClose();
    }, "Not changed");
  }
}

function said(preview: RetentionPreview): string {
  const found =
    preview.total === 0
      ? "Nothing would be removed now."
      : `Would remove ${formatBytes(preview.bytes)} from ${count(preview.total, "run")} now.`;
  return preview.partial ? `${found} Only ${count(preview.looked_at, "run")} were looked at in time.` : found;
}
