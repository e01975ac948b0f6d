import { expect, it } from "vitest";
import { panelId, pinnedPanels, sections, shortTitle } from "./chart-sections";
import type { PanelInfo } from "./schema";

const panel = (key: string, kind = "scalar"): PanelInfo => ({
  key,
  kind,
  section: key.includes("/") ? (key.split("/")[0] as string) : "",
  runs: 1,
  x: null,
});

it("groups by prefix in the order that came, with the machine's metrics closed", () => {
  const found = sections(["val/loss", "train/b10", "lr", "val/acc", "system/cpu"].map((k) => panel(k)));
  expect(found.map((s) => [s.label, s.open, s.panels.map((p) => p.key)])).toEqual([
    ["val", true, ["val/loss", "val/acc"]],
    ["train", true, ["train/b10"]],
    ["Metrics", true, ["lr"]],
    ["system", false, ["system/cpu"]],
  ]);
});

it("names what has no prefix after what it is, and tells a key's kinds apart", () => {
  expect(sections([panel("lr"), panel("a", "image")]).map((one) => one.label)).toEqual(["Metrics", "Media"]);
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
  expect([shortTitle(panel("val/loss")), shortTitle(panel("loss")), shortTitle(panel("a/"))]).toEqual([
    "loss",
    "loss",
    "a/",
  ]);
});
