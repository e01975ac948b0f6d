import { expect, test } from "vitest";
import { assignSlots, DASHES, hashOf, lookOf, PALETTE } from "./colour";

const ids = Array.from({ length: 60 }, (_, at) => `01JCQ4${String(at).padStart(20, "0")}`);

function luminance(hex: string): number {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test("every ink can be told from its background, light and dark", () => {
  for (const ink of PALETTE) {
    expect(contrast(ink.light, "#ffffff")).toBeGreaterThan(3.5);
    expect(contrast(ink.dark, "#121316")).toBeGreaterThan(4.5);
  }
});

test("a run has the same colour whoever asks, and sixty runs have sixty looks", () => {
  expect(assignSlots(["a"]).get("a")).toBe(hashOf("a") % PALETTE.length);
  expect(new Set(assignSlots(ids).values()).size).toBe(60);
  expect(PALETTE.length * DASHES.length).toBe(60);
});

test("more runs than looks still get one each", () => {
  expect(assignSlots([...ids, "one more"]).has("one more")).toBe(true);
});

test("adding or removing a run recolours no other", () => {
  const before = assignSlots(ids.slice(0, 10));
  const added = assignSlots(ids.slice(0, 11), before);
  for (const id of ids.slice(0, 10)) expect(added.get(id)).toBe(before.get(id));
  const removed = assignSlots(ids.slice(1, 11), added);
  for (const id of ids.slice(1, 11)) expect(removed.get(id)).toBe(added.get(id));
});

test("the first twelve lines are solid", () => {
  const slots = [...assignSlots(ids.slice(0, 12)).values()];
  expect(slots.every((slot) => lookOf(slot, false).dash.length === 0)).toBe(true);
  expect(lookOf(13, true)).toEqual({ colour: PALETTE[1]?.dark, dash: DASHES[1], slot: 13 });
});
