import { expect, test } from "vitest";
import { BOX, placeLineage } from "./lineage-layout";
import type { LineageNode } from "./schema";

const node = (id: string, kind: "run" | "artifact"): LineageNode => ({
  id,
  kind,
  name: id,
  run: "",
  project: "",
  type: "",
  version: 0,
  aliases: [],
  bytes: 0,
  time: 0,
  status: "",
  focus: false,
});

test("what was made stands right of what made it, and no two boxes overlap", () => {
  const nodes = [node("train", "run"), node("model", "artifact"), node("eval-1", "run"), node("eval-2", "run")];
  const edges = [
    { source: "train", target: "model" },
    { source: "model", target: "eval-1" },
    { source: "model", target: "eval-2" },
  ];
  const placed = placeLineage({ nodes, edges });
  const at = new Map(placed.nodes.map((one) => [one.node.id, one]));
  for (const { source, target } of edges) {
    const [from, to] = [at.get(source), at.get(target)];
    expect((from?.left ?? 0) + BOX.width).toBeLessThan(to?.left ?? 0);
  }
  expect(Math.abs((at.get("eval-1")?.top ?? 0) - (at.get("eval-2")?.top ?? 0))).toBeGreaterThanOrEqual(BOX.height);
  expect(placed.lines.map((line) => line.path)).toEqual([
    expect.stringMatching(/^M/),
    expect.stringMatching(/^M/),
    expect.stringMatching(/^M/),
  ]);
  expect(placed.width).toBeGreaterThan(3 * BOX.width);
});

test("a run that uses what it made itself is a circle, and placed all the same", () => {
  const nodes = [node("train", "run"), node("model", "artifact")];
  const edges = [
    { source: "train", target: "model" },
    { source: "model", target: "train" },
  ];
  expect(placeLineage({ nodes, edges }).lines).toHaveLength(2);
  expect(placeLineage({ nodes: [], edges: [] })).toMatchObject({ nodes: [], lines: [] });
});
