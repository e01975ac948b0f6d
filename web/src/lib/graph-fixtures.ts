/** Small graphs for the tests, written the way the server numbers them. */

import type { GraphBox, GraphData, GraphEdge, GraphNode, GraphTensor } from "./schema";

export type Sketch = string | { box: string; type?: string; inside: Sketch[]; copies?: number };

/** Ops in a chain, each reading the one before it: `["embed", { box: "h", inside: ["norm", "linear"], copies: 3 }]`. */
export function sketch(items: readonly Sketch[], skips: readonly (readonly [number, number])[] = []): GraphData {
  const boxes: GraphBox[] = [];
  const nodes: GraphNode[] = [];
  const add = (item: Sketch, parent: number | null, path: string): void => {
    if (typeof item === "string") {
      nodes.push({
        id: nodes.length,
        name: item,
        box: parent,
        op: nodes.length,
        outputs: [nodes.length],
        time_us: 10,
        flops: 100,
        saved_bytes: 64,
      });
      return;
    }
    const heads: number[] = [];
    for (let copy = 0; copy < (item.copies ?? 1); copy++) {
      const label = item.copies ? `${item.box}.${copy}` : item.box;
      const own = path ? `${path}.${label}` : label;
      const box: GraphBox = {
        id: boxes.length,
        label,
        parent,
        path: own,
        type: item.type ?? "Block",
        first: nodes.length,
      };
      if (copy === 0 && item.copies) box.repeat = item.copies;
      if (copy > 0) box.fold = heads[0] as number;
      heads.push(box.id);
      boxes.push(box);
      for (const inner of item.inside) add(inner, box.id, own);
      box.count = nodes.length - (box.first as number);
      box.ops = box.count;
      box.boxes = boxes.length - box.id - 1;
      box.time_us = 10 * box.count;
      box.flops = 100 * box.count;
      box.saved_bytes = 64 * box.count;
    }
  };
  for (const item of items) add(item, null, "");
  const tensors: GraphTensor[] = nodes.map((_, at) => ({ shape: [8, at + 1], dtype: "float32", device: "cpu" }));
  const chain: GraphEdge[] = nodes
    .slice(1)
    .map((node) => ({ source: node.id - 1, target: node.id, tensor: node.id - 1 }));
  const extra = skips.map(([source, target]) => ({ source, target, tensor: source }));
  const edges = [...chain, ...extra];
  const about = { format: 1, model: "Net", device: "cpu", torch: "2.9.0", phases: ["forward" as const], values: true };
  return { ...about, boxes, nodes, edges, tensors, sites: [], unseen: [], error: null, color: null, parameters: false };
}

/** A transformer of about 5,000 ops whose blocks are all told apart. */
export function large(blocks = 96): GraphData {
  const attention: Sketch = {
    box: "attn",
    type: "Attention",
    inside: [
      { box: "qkv", type: "Linear", inside: ["linear"] },
      "split",
      "view",
      "transpose",
      "view",
      "transpose",
      "view",
      "transpose",
      "matmul",
      "mul",
      "masked_fill",
      "softmax",
      "dropout",
      "matmul",
      "transpose",
      "contiguous",
      "view",
      { box: "proj", type: "Linear", inside: ["linear"] },
      "dropout",
    ],
  }; // prettier-ignore
  const mlp: Sketch = {
    box: "mlp",
    type: "MLP",
    inside: [
      { box: "up", type: "Linear", inside: ["linear"] },
      ...Array.from({ length: 24 }, (_, at) => `gelu${at}`),
      { box: "down", type: "Linear", inside: ["linear"] },
      "dropout",
    ],
  }; // prettier-ignore
  const block: Sketch[] = [
    { box: "ln_1", type: "LayerNorm", inside: ["layer_norm"] },
    attention,
    "add",
    { box: "ln_2", type: "LayerNorm", inside: ["layer_norm"] },
    mlp,
    "add",
  ];
  const layers = Array.from({ length: blocks }, (_, at) => ({ box: `h.${at}`, inside: block }));
  return sketch([{ box: "GPT", type: "GPT", inside: ["embedding", ...layers, "linear"] }]);
}
