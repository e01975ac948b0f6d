import { expect, test } from "vitest";
import { shortTitle } from "./chart-sections";
import type { PanelInfo } from "./schema";
import { systemPanels } from "./system-groups";

const info = (key: string, kind = "scalar"): PanelInfo => ({
  key,
  kind,
  section: key.split("/")[0] ?? "",
  runs: 1,
  x: null,
});

test("the machine's metrics are grouped, named and ordered, and nothing else is among them", () => {
  const keys = [
    "system/disk_percent",
    "system/gpu10/power_w",
    "system/cpu_percent",
    "train/loss",
    "system/gpu2/memory_bytes",
    "system/gpu2/use_percent",
    "system/mine",
  ];
  const shown = systemPanels(keys.map((key) => info(key)));
  expect(shown.map((one) => [one.section, shortTitle(one)])).toEqual([
    ["GPU 2", "Utilisation, %"],
    ["GPU 2", "Memory used"],
    ["GPU 10", "Power, watts"],
    ["Processor and memory", "Processor, %"],
    ["Disk", "Full, %"],
    ["Other", "mine"],
  ]);
  expect(systemPanels([info("system/log", "text")])).toEqual([]);
});
