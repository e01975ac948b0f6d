import { describe, expect, test } from "vitest";
import { cpuMs } from "./cpu-fixtures";
import { fit, grown, holds, pan, reveal, seen, zoomAt } from "./graph-camera";
import { large, sketch } from "./graph-fixtures";
import { placePlan } from "./graph-layout";
import { itemOfNode, readGraph } from "./graph-model";
import { moveFrom } from "./graph-moves";
import { type Plan, planKey } from "./graph-plan";
import { curve, layScene, type Sizes } from "./graph-scene";
import { show } from "./graph-shown";

const SIZES: Sizes = { closed: () => ({ w: 80, h: 28 }), heading: () => 100, label: (text) => 6 * text.length };

async function sceneOf(data: ReturnType<typeof sketch>, open: readonly number[], unfolded: readonly number[] = []) {
  const keys: string[] = [];
  const shown = show(readGraph(data), { unfolded: new Set(unfolded), weights: false });
  const scene = await layScene(shown, new Set(open), SIZES, (plan: Plan) => {
    keys.push(planKey(plan));
    return Promise.resolve(placePlan(plan));
  });
  return { shown, scene, keys };
}

const NET = sketch(["embed", { box: "enc", inside: ["norm", "lin"] }, "head"], [[0, 2]]);

describe("the scene", () => {
  test("only what is open is laid out, one box at a time", async () => {
    expect((await sceneOf(NET, [])).keys.length).toBe(1);
    const { keys, scene } = await sceneOf(NET, [0]);
    expect(keys.length).toBe(2);
    expect(scene.items.map(({ open }) => open)).toEqual([false, true, false, false, false]);
  });

  test("data flows down, items do not overlap, and an open box lies around what is in it", async () => {
    const { scene, shown } = await sceneOf(NET, [0]);
    const place = (item: number) => scene.items.find((one) => one.item === item) ?? expect.fail(`no ${item}`);
    const box = place(0);
    const [embed, norm, lin, head] = [0, 1, 2, 3].map((node) => place(itemOfNode(shown.model, node)));
    expect(embed!.y + embed!.h).toBeLessThan(box.y);
    expect(norm!.y + norm!.h).toBeLessThan(lin!.y);
    expect(box.y + box.h).toBeLessThan(head!.y);
    for (const inner of [norm!, lin!]) expect(holds(box, inner)).toBe(true);
  });

  test("an edge into an open box ends where the edge inside begins", async () => {
    const { scene } = await sceneOf(NET, [0]);
    const outer = scene.edges.find((edge) => edge.to === 0);
    const inner = scene.edges.filter((edge) => edge.from === null);
    expect(inner.length).toBe(2);
    for (const edge of inner) expect(edge.bends[0]).toBe(outer?.bends.at(-2));
    expect(outer?.goesOn).toBe(true);
  });

  test("edges carry shape and dtype, and a tensor read twice is labelled once", async () => {
    const { scene } = await sceneOf(sketch(["a", "b", "c"], [[0, 2]]), []);
    expect(scene.edges.map((edge) => edge.label?.text ?? null)).toEqual(["8×1 f32", "8×2 f32", null]);
  });

  test("equal blocks have equal plans, so the cache lays them out once", async () => {
    const stack = sketch(["embed", { box: "h", inside: ["norm", "lin"], copies: 4 }, "head"]);
    for (const tensor of stack.tensors) tensor.shape = [8, 8];
    const { keys } = await sceneOf(stack, [0, 1, 2, 3], [0]);
    expect(keys.length).toBe(5);
    expect(new Set(keys).size).toBe(2);
  });

  test("a change of structure or size changes the plan's key", () => {
    const plan: Plan = { sizes: [80, 28, 80, 28], ins: 1, outs: 0, edges: [0, 1, 40] };
    const keys = [plan, { ...plan, ins: 0 }, { ...plan, sizes: [80, 28, 88, 28] }, { ...plan, edges: [1, 0, 40] }].map(
      planKey,
    );
    expect(new Set(keys).size).toBe(4);
  });

  test("5,000 ops open in little time, because boxes are closed", async () => {
    const started = cpuMs();
    const { scene } = await sceneOf(large(), [0]);
    expect(scene.items.length).toBeGreaterThan(90);
    expect(cpuMs() - started).toBeLessThan(2000);
  });

  test("nothing at all is a scene too", async () => {
    const { scene } = await sceneOf(sketch([]), []);
    expect([scene.width, scene.height, scene.items.length]).toEqual([0, 0, 0]);
  });
});

describe("lines", () => {
  test("leave and arrive vertically and pass through every bend", () => {
    expect(curve([0, 0, 10, 30])).toBe("M0 0C0 10 10 20 10 30");
    expect(curve([0, 0, 10, 30, 20, 60])).toContain("10 30");
    expect(curve([0, 0])).toBe("");
  });
});

describe("the camera", () => {
  const screen = { width: 800, height: 600 };
  test("fits a drawing into the middle and never magnifies a small one", () => {
    const camera = fit({ x: 0, y: 0, w: 100, h: 50 }, screen, 1);
    expect(camera).toEqual({ scale: 1, left: 350, top: 275 });
    expect(holds(seen(fit({ x: 0, y: 0, w: 9000, h: 50 }, screen), screen), { x: 0, y: 0, w: 9000, h: 50 })).toBe(true);
  });

  test("zooms around the point under the mouse, within limits", () => {
    const camera = zoomAt({ left: 10, top: 20, scale: 1 }, 2, 100, 100);
    expect([(100 - camera.left) / camera.scale, (100 - camera.top) / camera.scale]).toEqual([90, 80]);
    expect(zoomAt(camera, 1e9, 0, 0).scale).toBe(4);
  });

  test("brings what is off the screen to the middle and leaves alone what is seen", () => {
    const camera = { left: 0, top: 0, scale: 1 };
    expect(reveal(camera, { x: 100, y: 100, w: 50, h: 20 }, screen)).toEqual(camera);
    const moved = reveal(camera, { x: 2000, y: 100, w: 50, h: 20 }, screen);
    expect(holds(seen(moved, screen), { x: 2000, y: 100, w: 50, h: 20 })).toBe(true);
    expect(pan(moved, -moved.left, 0).left).toBe(0);
    expect(grown({ x: 0, y: 0, w: 10, h: 10 }, 0.5)).toEqual({ x: -5, y: -5, w: 20, h: 20 });
  });
});

describe("the arrow keys", () => {
  test("go along edges, into open boxes and out of them, and to neighbours", async () => {
    const { scene, shown } = await sceneOf(
      sketch(["in", { box: "enc", inside: ["norm", "lin"] }, "head", "side"], [[0, 4]]),
      [0],
    );
    const node = (at: number) => itemOfNode(shown.model, at);
    const go = (from: number | null, move: "up" | "down" | "left" | "right") =>
      moveFrom(scene, from, move, (item) => shown.parent.get(item));
    expect(go(null, "down")).toBe(node(0));
    expect(go(node(0), "down")).toBe(0);
    expect(go(0, "down")).toBe(node(1));
    expect(go(node(1), "down")).toBe(node(2));
    expect(go(node(2), "down")).toBe(node(3));
    expect(go(node(1), "up")).toBe(0);
    expect(go(node(3), "up")).toBe(0);
    expect(go(node(0), "up")).toBe(null);
  });
});
