import { describe, expect, test } from "vitest";
import { sketch } from "./graph-fixtures";
import { localGraph, MAX_PORTS, portsOf } from "./graph-local";
import { itemOfNode, readGraph } from "./graph-model";
import { FULL, nodesInside, seenAs, show, type View, wayTo } from "./graph-shown";

const FOLDED: View = { unfolded: new Set(), weights: false };
const at = (data: ReturnType<typeof sketch>, view: View = FOLDED) => show(readGraph(data), view);
const edgesOf = (shown: ReturnType<typeof at>, box: number) =>
  localGraph(shown, box).edges.map(({ from, to, edges }) => [from, to, edges.length]);

// embed → enc(norm → lin) → head
const NET = sketch(["embed", { box: "enc", inside: ["norm", "lin"] }, "head"], [[0, 2]]);

describe("what is shown", () => {
  test("items lie in their boxes in the order they ran, with boxes between ops", () => {
    const model = readGraph(NET);
    expect(model.children[model.root]).toEqual([itemOfNode(model, 0), 0, itemOfNode(model, 3)]);
    expect(model.children[0]).toEqual([itemOfNode(model, 1), itemOfNode(model, 2)]);
  });

  test("edges between the same two items of a box are merged", () => {
    expect(edgesOf(at(NET), at(NET).model.root)).toEqual([
      [0, 1, 2],
      [1, 2, 1],
    ]);
  });

  test("inside a box, what crosses its border goes through ports", () => {
    const shown = at(NET);
    const outside = localGraph(shown, shown.model.root);
    const ports = portsOf(shown, outside, 1);
    const inside = localGraph(shown, 0, ports);
    expect([ports.ins.length, ports.outs.length]).toEqual([1, 1]);
    // items 0 norm, 1 lin; port 2 in; port 3 out
    expect(inside.edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [2, 0],
      [2, 1],
      [1, 3],
    ]);
  });

  test("too many ports on one side become one", () => {
    const sources = Array.from({ length: MAX_PORTS + 4 }, (_, n) => `x${n}`);
    const shown = at(
      sketch(
        [...sources, { box: "cat", inside: ["cat"] }],
        sources.map((_, n) => [n, sources.length] as const),
      ),
    );
    const outside = localGraph(shown, shown.model.root);
    const box = outside.items.indexOf(0);
    expect(portsOf(shown, outside, box).ins.length).toBe(1);
  });

  test("one tensor that goes to two neighbours leaves through one port", () => {
    const shown = at(sketch([{ box: "enc", inside: ["lin"] }, "a", "b"], [[0, 2]]));
    const outside = localGraph(shown, shown.model.root);
    expect(portsOf(shown, outside, 0).outs.length).toBe(1);
  });
});

const STACK = sketch(
  ["embed", { box: "h", inside: [{ box: "attn", inside: ["qk"] }, "add"], copies: 3 }, "head"],
  [[0, 5]],
);

describe("folding", () => {
  test("equal blocks are one item, and edges from one to the next are not drawn", () => {
    const shown = at(STACK);
    const { items, edges } = localGraph(shown, shown.model.root);
    expect(items).toEqual([itemOfNode(shown.model, 0), 0, itemOfNode(shown.model, 7)]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  test("what goes into a later block is drawn into the first", () => {
    const shown = at(STACK);
    const skip = STACK.edges.length - 1;
    expect([shown.source[skip], shown.target[skip]]).toEqual([itemOfNode(shown.model, 0), itemOfNode(shown.model, 1)]);
  });

  test("unfolded, every block is there with its own edges", () => {
    const shown = at(STACK, { unfolded: new Set([0]), weights: false });
    const { items, edges } = localGraph(shown, shown.model.root);
    expect(items).toEqual([itemOfNode(shown.model, 0), 0, 2, 4, itemOfNode(shown.model, 7)]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [0, 3],
    ]);
  });

  test("an item in a folded block is seen at its place in the first, or as the closed box around it", () => {
    const shown = at(STACK);
    const last = itemOfNode(shown.model, 5);
    expect(seenAs(shown, new Set(), last)).toBe(0);
    expect(seenAs(shown, new Set([0]), last)).toBe(1);
    expect(seenAs(shown, new Set([0, 1]), last)).toBe(itemOfNode(shown.model, 1));
  });

  test("the way to an item names what to unfold first, then the boxes to open", () => {
    const folded = at(STACK);
    const item = itemOfNode(folded.model, 5);
    expect(wayTo(folded, item).unfold).toEqual([0]);
    const unfolded = at(STACK, { unfolded: new Set([0]), weights: false });
    expect(wayTo(unfolded, item)).toEqual({ open: [5, 4], unfold: [] });
  });
});

describe("full boxes and weights", () => {
  test("a box with very many items is cut into parts, and no layout is larger than that", () => {
    const shown = at(sketch(Array.from({ length: 5000 }, (_, n) => `op${n}`)));
    const sizes = [...shown.children.values()].map((items) => items.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(FULL);
    expect(nodesInside(shown, shown.model.root).length).toBe(5000);
    const first = shown.children.get(shown.model.root)?.[0] as number;
    expect(nodesInside(shown, first)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(localGraph(shown, shown.model.root).edges.length).toBe(99);
  });

  test("parameters are nodes only when asked for", () => {
    const data = sketch(["weight", "linear"]);
    (data.nodes[0] as { kind: string }).kind = "parameter";
    expect(localGraph(at(data), 2).items.length).toBe(1);
    expect(localGraph(at(data, { unfolded: new Set(), weights: true }), 2).items.length).toBe(2);
  });
});
