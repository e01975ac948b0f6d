/** The profile in the formats of other tools. */

import { Menu } from "../../components";
import { DownloadIcon } from "../../components/icons";
import type { ProfilePage } from "../../lib/schema";

export function ProfileExport({ shown }: { shown: { run: string; page: ProfilePage } }) {
  void shown;
  return <Menu label="Export the profile" align="end" button={<DownloadIcon size={15} />} items={[]} />;
}
