/** Sharing a report: as a file of one kind or another, or by a link that shows it and nothing else. */

import { useEffect, useState } from "preact/hooks";
import { fileName, saveBlob } from "../../charts/download";
import {
  Button,
  copyText,
  Dialog,
  EmptyState,
  ErrorState,
  Menu,
  type MenuItem,
  Select,
  Skeleton,
  TextInput,
  toast,
} from "../../components";
import { CopyIcon, DownloadIcon, ShareIcon } from "../../components/icons";
import { now } from "../../clock";
import { ApiError, call, callBytes } from "../../lib/api";
import { formatAge, formatBytes, formatTime, formatTimeZone, visibleText } from "../../lib/format";
import type { ReportPage, ReportShare } from "../../lib/schema";
import { printAll } from "../../report/printing";

const FORMATS = {
  html: { mime: "text/html", making: "Making one file of the report…" },
  zip: { mime: "application/zip", making: "Drawing the panels as images…" },
  pdf: { mime: "application/pdf", making: "Printing the report…" },
} as const;
type Format = keyof typeof FORMATS;

async function download(page: ReportPage, format: Format): Promise<void> {
  const { mime, making } = FORMATS[format];
  toast(making);
  try {
    const bytes = await callBytes("GET /api/report/file", { id: page.id, format, version: page.version });
    const name = fileName(page.title, format);
    saveBlob(new Blob([bytes], { type: mime }), name);
    toast(`${name}, ${formatBytes(bytes.byteLength)}`, "info", "Downloaded");
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    if (format === "pdf" && !fault.offline) return printHere(fault);
    toast([fault.message, fault.hint].filter(Boolean).join(" "), "error", "The file could not be made");
  }
}

/** The server has no browser to print with: this one has. */
function printHere(fault: ApiError): void {
  toast(`${fault.message} The print dialog of this browser can save a PDF.`, "warning");
  printAll();
}

export function ShareMenu({ page }: { page: ReportPage }) {
  const [links, setLinks] = useState(false);
  const file = (format: Format, label: string, hint: string): MenuItem => ({
    key: format,
    label,
    hint,
    icon: <DownloadIcon size={14} />,
    onPick: () => void download(page, format),
  });
  const items: MenuItem[] = [
    file("html", "One HTML file", "works offline"),
    file("pdf", "PDF", "to print"),
    file("zip", "Markdown with images", "zip"),
    {
      key: "links",
      label: "View-only links…",
      icon: <CopyIcon size={14} />,
      hint: page.shares ? String(page.shares) : "",
      onPick: () => setLinks(true),
    },
  ];
  return (
    <>
      <Menu
        label="Share"
        buttonClass="button"
        align="end"
        button={
          <>
            <ShareIcon size={14} /> Share
          </>
        }
        items={items}
      />
      {links ? <Links page={page} onClose={() => setLinks(false)} /> : null}
    </>
  );
}

const TERMS = [
  { value: "1", label: "for a day" },
  { value: "7", label: "for a week" },
  { value: "30", label: "for a month" },
  { value: "", label: "until revoked" },
] as const;

/** Makes, lists and revokes view-only links. */
function Links({ page, onClose }: { page: ReportPage; onClose(): void }) {
  const [shares, setShares] = useState<readonly ReportShare[] | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [label, setLabel] = useState("");
  const [days, setDays] = useState<string>("7");
  const [made, setMade] = useState("");
  const guarded = async (work: () => Promise<void>) => work().then(() => setFault(null), setFault);
  const load = () => guarded(async () => setShares((await call("POST /api/report/shares", { id: page.id })).shares));
  useEffect(() => void load(), [page.id]);
  const make = () =>
    guarded(async () => {
      const answer = await call("POST /api/report/share", {
        id: page.id,
        label: label.trim(),
        days: days ? Number(days) : null,
      });
      const address = new URL(answer.url, location.origin).href;
      setMade(address);
      setLabel("");
      await copyText(address, "Link copied");
      await load();
    });
  const revoke = (share: ReportShare) =>
    guarded(async () => {
      setShares((await call("POST /api/report/unshare", { id: page.id, share: share.id })).shares);
      setMade("");
      toast("The link no longer works.");
    });
  return (
    <Dialog title="View-only links" onClose={onClose} wide>
      <div class="links">
        <p class="quiet">
          Whoever has such a link can read this report with the data that it shows, always in its newest version, and
          nothing else.
        </p>
        {page.editable ? (
          <form class="wraps gap-2 links-new" onSubmit={(event) => (event.preventDefault(), void make())}>
            <TextInput
              label="Recipient"
              placeholder="recipient (only you see this)"
              value={label}
              maxLength={200}
              onInput={setLabel}
            />
            <Select label="Expires" value={days} options={TERMS} onChange={setDays} />
            <Button kind="primary" type="submit">
              Make a link
            </Button>
          </form>
        ) : (
          <p>This server is read-only: links cannot be made here.</p>
        )}
        {made ? (
          <p class="hstack wraps gap-2 banner links-made" data-tone="good">
            <code>{made}</code>
            <Button onClick={() => void copyText(made, "Link copied")}>
              <CopyIcon size={14} /> Copy
            </Button>
            <span class="quiet">It is shown only once; the server keeps just a fingerprint.</span>
          </p>
        ) : null}
        {fault ? (
          <ErrorState error={fault} />
        ) : shares === null ? (
          <Skeleton height={60} />
        ) : shares.length === 0 ? (
          <EmptyState title="No link yet" />
        ) : (
          <LinkTable shares={shares} editable={page.editable} onRevoke={revoke} />
        )}
      </div>
    </Dialog>
  );
}

function LinkTable({
  shares,
  editable,
  onRevoke,
}: {
  shares: readonly ReportShare[];
  editable: boolean;
  onRevoke(share: ReportShare): void;
}) {
  return (
    <table class="table report-table">
      <thead>
        <tr>
          <th scope="col">for</th>
          <th scope="col">made</th>
          <th scope="col">works until</th>
          <th scope="col">
            <span class="visually-hidden">revoke</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shares.map((share) => (
          <tr key={share.id}>
            <td class="isolate">{visibleText(share.label) || <span class="quiet">anybody</span>}</td>
            <td title={formatTimeZone(share.created)}>{formatAge(share.created, now.value)}</td>
            <td>{share.expires === null ? "it is revoked" : formatTime(share.expires)}</td>
            <td data-number>
              {editable ? (
                <Button kind="danger" onClick={() => onRevoke(share)}>
                  Revoke
                </Button>
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
