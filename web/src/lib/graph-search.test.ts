import { describe, expect, test } from "vitest";
import { sketch } from "./graph-fixtures";
import { amountOf, amountText, firstNonfinite, heat, isNonfinite, kindsOf, palette } from "./graph-measure";
import { itemOfNode, readGraph } from "./graph-model";
import { pathOf } from "./graph-path";
import { indexOf, search } from "./graph-search";
import { show } from "./graph-shown";
import { captionOf, edgeText, formatCount, formatMicros, shapeText, tensorText } from "./graph-words";

const DATA = sketch(
  ["embedding", { box: "encoder", type: "Encoder", inside: ["layer_norm", "linear", "softmax"] }, "linear"],
  [[0, 3]],
);
DATA.sites = [{ file: "/home/ada/net/model.py", line: 42, function: "forward", text: "x = self.norm(x)" }];
(DATA.nodes[1] as { site: number }).site = 0;
const model = readGraph(DATA);
const shown = show(model, { unfolded: new Set(), weights: false });
const titles = (query: string) => search(indexOf(model), query).found.map((hit) => hit.title);

describe("search", () => {
  test("finds ops, modules, classes, shapes, files and lines", () => {
    expect(titles("softmax")).toEqual(["softmax"]);
    expect(titles("encoder")).toEqual(["encoder", "layer_norm", "linear", "softmax"]);
    expect(titles("8x2")).toEqual(["layer_norm"]);
    expect(titles("8×2")).toEqual(["layer_norm"]);
    expect(titles("model.py:42")).toEqual(["layer_norm"]);
  });

  test("wants every word, ignores case, and gives nothing for nothing", () => {
    expect(titles("ENCODER linear")).toEqual(["linear"]);
    expect(titles("   ")).toEqual([]);
    expect(titles("[(*")).toEqual([]);
  });

  test("counts all hits and lists the first", () => {
    const { found, total } = search(indexOf(readGraph(sketch(Array.from({ length: 200 }, () => "add")))), "add");
    expect([found.length, total]).toEqual([60, 200]);
  });
});

describe("paths", () => {
  test("upstream is all that an op depends on, downstream all that depends on it", () => {
    const softmax = itemOfNode(model, 3);
    expect([...pathOf(shown, softmax, "up").nodes].sort()).toEqual([0, 1, 2, 3]);
    expect([...pathOf(shown, softmax, "down").nodes].sort()).toEqual([3, 4]);
    expect(pathOf(shown, itemOfNode(model, 1), "both").edges.has(4)).toBe(false);
  });

  test("of a box starts from everything in it", () => {
    expect([...pathOf(shown, 0, "up").nodes].sort()).toEqual([0, 1, 2, 3]);
  });
});

describe("colour", () => {
  test("a folded block has the sum of all it stands for", () => {
    const stack = readGraph(sketch([{ box: "h", inside: ["a", "b"], copies: 3 }]));
    expect(amountOf(show(stack, { unfolded: new Set(), weights: false }), 0, "time")).toBe(60);
    expect(amountOf(show(stack, { unfolded: new Set([0]), weights: false }), 0, "time")).toBe(20);
  });

  test("what is not known is not zero", () => {
    const data = sketch(["a"]);
    (data.nodes[0] as { flops: number | null }).flops = null;
    const one = show(readGraph(data), { unfolded: new Set(), weights: false });
    expect(amountOf(one, 0, "flops")).toBe(null);
    expect(heat(null, 5)).toBe(null);
  });

  test("heat grows with the square root and stays within the scale", () => {
    expect([heat(0, 100), heat(25, 100), heat(100, 100), heat(200, 100), heat(1, 0)]).toEqual([0, 0.5, 1, 1, 0]);
  });

  test("kinds are counted, and keep their colours by how frequent they are in the whole graph", () => {
    const data = sketch(["a", "b", { box: "half", inside: ["c"] }]);
    (data.tensors[2] as { dtype: string }).dtype = "bfloat16";
    const mixed = show(readGraph(data), { unfolded: new Set(), weights: false });
    expect(kindsOf(mixed, mixed.model.root, "dtype")).toEqual([
      ["f32", 2],
      ["bf16", 1],
    ]);
    expect(palette(mixed, "dtype").get("bf16")).toBe(1);
    expect(kindsOf(mixed, 0, "dtype")).toEqual([["bf16", 1]]);
  });

  test("the first op with a NaN is the first in the order of the step", () => {
    const data = sketch(["a", { box: "enc", inside: ["b"] }, "c"]);
    for (const at of [1, 2]) (data.nodes[at] as { nonfinite: boolean }).nonfinite = true;
    (data.boxes[0] as { nonfinite: boolean }).nonfinite = true;
    const bad = show(readGraph(data), { unfolded: new Set(), weights: false });
    expect(firstNonfinite(bad.model)).toBe(1);
    expect([isNonfinite(bad, 0), isNonfinite(bad, itemOfNode(bad.model, 0))]).toEqual([true, false]);
    expect(firstNonfinite(model)).toBe(null);
  });
});

describe("words", () => {
  test("shapes, dtypes, times, amounts", () => {
    expect([shapeText([8, 128, 768]), shapeText([])]).toEqual(["8×128×768", "scalar"]);
    expect(tensorText(model.tensors[0]!)).toBe("8×1 f32");
    expect([formatMicros(4.25), formatMicros(850), formatMicros(12_400), formatMicros(3.1e6)]).toEqual([
      "4.3 µs",
      "850 µs",
      "12.4 ms",
      "3.1 s",
    ]);
    expect([formatCount(940), formatCount(1234), formatCount(124e6), formatCount(4.1e9)]).toEqual([
      "940",
      "1.23 K",
      "124 M",
      "4.1 G",
    ]);
    expect([amountText(2048, "memory"), amountText(1e9, "flops")]).toEqual(["2 KiB", "1 G"]);
  });

  test("an edge that stands for several names the tensor or counts them", () => {
    expect([edgeText(model, [0]), edgeText(model, [0, 1]), edgeText(model, [])]).toEqual(["8×1 f32", "2 tensors", ""]);
  });

  test("a folded block says how often it is repeated", () => {
    const stack = readGraph(sketch([{ box: "h", inside: ["a"], copies: 12 }]));
    expect(captionOf(show(stack, { unfolded: new Set(), weights: false }), 0)).toEqual({
      title: "h.0",
      detail: "Block",
      badge: "×12",
    });
  });
});
