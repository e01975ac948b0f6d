import { expect, it } from "vitest";
import { panelId, pinnedPanels, sections, shortTitle } from "./chart-sections";
import type { PanelInfo } from "./schema";

const panel = (key: string, kind = "scalar"): PanelInfo => ({ key, kind, section: key.includes("/") ? (key.split("/")[0] as string) : "", runs: 1, x: null });

it("groups by prefix: keys without one first, the machine's last and closed", () => {
  const found = sections(["system/cpu", "val/loss", "loss", "train/b10", "train/b9"].map((k) => panel(k)));
  expect(found.map((s) => [s.label, s.open, s.panels.map((p) => p.key)])).toEqual([
    ["Metrics", true, ["loss"]],
    ["train", true, ["train/b9", "train/b10"]],
    ["val", true, ["val/loss"]],
    ["system", false, ["system/cpu"]],
  ]);
});

it("puts charts before media, and tells a key's kinds apart", () => {
  expect(sections([panel("a", "image"), panel("b")])[0]?.panels.map((p) => p.key)).toEqual(["b", "a"]);
  expect(panelId(panel("a"))).not.toBe(panelId(panel("a", "image")));
});

it("opens a page of thousands with its later sections closed", () => {
  const many = Array.from({ length: 500 }, (_, i) => panel(`a/${i}`)).concat(panel("b/1"));
  expect(sections(many).map((s) => s.open)).toEqual([true, false]);
});

it("keeps pins in their order and forgets those that no run has", () => {
  expect(pinnedPanels([panel("a"), panel("b")], ["b", "gone", "a"]).map((p) => p.key)).toEqual(["b", "a"]);
});

it("does not repeat the section in the title", () => {
  expect([shortTitle(panel("val/loss")), shortTitle(panel("loss")), shortTitle(panel("a/"))]).toEqual(["loss", "loss", "a/"]);
});
