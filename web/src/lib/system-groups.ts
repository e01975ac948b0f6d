/** The machine's metrics in words and groups: `system/gpu0/use_percent` is “Utilisation, %” of “GPU 0”. */

import type { PanelInfo } from "./schema";

export const SYSTEM_GROUPS = ["GPUs", "processor and memory", "the training process", "disk", "network"] as const;

const MACHINE = "Processor and memory";
const PROCESS = "The training process";
const DISK = "Disk";
const NETWORK = "Network";

const WORDS: Record<string, readonly [group: string, title: string]> = {
  cpu_percent: [MACHINE, "Processor, %"],
  memory_percent: [MACHINE, "Memory, %"],
  memory_bytes: [MACHINE, "Memory used"],
  process_cpu_percent: [PROCESS, "Processor, % of one core"],
  process_rss_bytes: [PROCESS, "Memory"],
  process_threads: [PROCESS, "Threads"],
  disk_percent: [DISK, "Full, %"],
  disk_free_bytes: [DISK, "Free"],
  disk_read_bytes_per_s: [DISK, "Read, bytes per second"],
  disk_write_bytes_per_s: [DISK, "Written, bytes per second"],
  network_sent_bytes_per_s: [NETWORK, "Sent, bytes per second"],
  network_received_bytes_per_s: [NETWORK, "Received, bytes per second"],
};

const DEVICE: Record<string, string> = {
  use_percent: "Utilisation, %",
  memory_percent: "Memory, %",
  memory_bytes: "Memory used",
  power_w: "Power, watts",
  temperature_c: "Temperature, °C",
};

const RANKS: Record<string, number> = { [MACHINE]: 100_000, [PROCESS]: 100_001, [DISK]: 100_002, [NETWORK]: 100_003 };
const ORDER = [...Object.keys(DEVICE), ...Object.keys(WORDS)];

interface Meaning {
  group: string;
  title: string;
  rank: number;
}

/** What a metric of the machine means; one of the user's own under `system/` keeps its name. */
function meaningOf(key: string): Meaning {
  const name = key.slice("system/".length);
  const device = /^gpu(\d+)\/(.+)$/.exec(name);
  if (device)
    return {
      group: `GPU ${device[1]}`,
      title: DEVICE[device[2] ?? ""] ?? (device[2] as string),
      rank: Number(device[1]),
    };
  const [group, title] = WORDS[name] ?? ["Other", name];
  return { group, title, rank: RANKS[group] ?? 200_000 };
}

export const systemTitle = (key: string): string => meaningOf(key).title;

/** The panels of the machine alone: devices first, each group in the order of what is asked first. */
export function systemPanels(panels: readonly PanelInfo[]): PanelInfo[] {
  const place = (info: PanelInfo) => ORDER.indexOf(info.key.replace(/^system\/(gpu\d+\/)?/, ""));
  return panels
    .filter((info) => info.section === "system" && info.kind === "scalar")
    .map((info) => ({ info, meaning: meaningOf(info.key) }))
    .sort((a, b) => a.meaning.rank - b.meaning.rank || place(a.info) - place(b.info))
    .map(({ info, meaning }) => ({ ...info, section: meaning.group }));
}
