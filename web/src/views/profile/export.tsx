/** The profile in the formats of other tools. */

import { Menu, type MenuItem } from "../../components";
import { DownloadIcon } from "../../components/icons";
import { addressOf } from "../../lib/api";
import type { ProfileDownloadRequest, ProfilePage } from "../../lib/schema";

const ROUTE = "/api/profile/download/{run}/{profile}/{kind}";

export function downloadAddress(request: ProfileDownloadRequest): string {
  return addressOf(ROUTE, { ...request });
}

/** Has the browser save what is at an address. */
export function follow(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

export function ProfileExport({ shown: { run, page } }: { shown: { run: string; page: ProfilePage } }) {
  const has = (tab: string) => (page.tabs.find((one) => one.id === tab)?.answers.length ?? 0) > 0;
  const isStacked = page.tabs.some((one) => one.answers.some((answer) => answer.kind === "stack"));
  const item = (kind: ProfileDownloadRequest["kind"], label: string, hint: string): MenuItem => ({
    key: kind,
    label,
    hint,
    onPick: () => follow(downloadAddress({ run, profile: page.profile.id, kind, rank: page.rank })),
  });
  const items = [
    item("tables", "All tables", "CSV, zipped"),
    ...(has("timeline") ? [item("chrome", "Timeline", "for Perfetto")] : []),
    ...(isStacked ? [item("speedscope", "Python call tree", "for speedscope")] : []),
    ...(page.profile.kinds.includes("prof") ? [item("prof", "Python statistics", ".prof")] : []),
  ];
  return (
    <Menu
      label="Export the profile"
      align="end"
      buttonClass="icon-button"
      button={<DownloadIcon size={15} />}
      items={items}
    />
  );
}
