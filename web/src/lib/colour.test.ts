import { expect, test } from "vitest";
import { assignSlots, DASHES, lookOf, PALETTE } from "./colour";

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

const hueOf = (id: string): number => Number(id.slice(-3)) % PALETTE.length;
const slotsOf = (some: readonly string[], recolour = true) => assignSlots(some, hueOf, recolour);

test("a run has its own hue while it can, and sixty runs have sixty looks", () => {
  expect([...slotsOf(ids.slice(0, 12)).values()]).toEqual([...Array(12).keys()]);
  expect(new Set(slotsOf(ids).values()).size).toBe(60);
  expect(PALETTE.length * DASHES.length).toBe(60);
});

test("more runs than looks still get one each", () => {
  expect(slotsOf([...ids, "one more 061"]).has("one more 061")).toBe(true);
});

test("adding a run recolours no other, and the same choice always looks the same", () => {
  const before = slotsOf(ids.slice(0, 20));
  const added = slotsOf(ids.slice(0, 21));
  for (const id of ids.slice(0, 20)) expect(added.get(id)).toBe(before.get(id));
});

test("of two chosen runs with one hue the later takes another; not chosen, it keeps it and is dashed", () => {
  const pair = [ids[1] as string, ids[13] as string];
  expect([...slotsOf(pair).values()]).toEqual([1, 6]);
  expect([...slotsOf(pair, false).values()]).toEqual([1, 13]);
});

test("two chosen runs whose hues are much alike are drawn far apart; many keep their own", () => {
  const [orange, red] = [ids[1] as string, ids[7] as string];
  expect([...slotsOf([orange, red]).values()]).toEqual([1, 0]);
  expect([...slotsOf([orange, red], false).values()]).toEqual([1, 7]);
  expect(slotsOf([...ids.slice(0, 4), red]).get(red)).toBe(7);
});

test("a run that is not known is grey, not somebody's colour", () => {
  expect(assignSlots(["x"], () => undefined, true).size).toBe(0);
  expect(PALETTE.map((ink) => ink.light)).not.toContain(lookOf(undefined, false).colour);
});

test("the first twelve lines are solid", () => {
  const slots = [...slotsOf(ids.slice(0, 12)).values()];
  expect(slots.every((slot) => lookOf(slot, false).dash.length === 0)).toBe(true);
  expect(lookOf(13, true)).toEqual({ colour: PALETTE[1]?.dark, dash: DASHES[1], slot: 13 });
});

test("the server's pictures of a report follow the same rule", () => {
  const hues = new Map(Object.entries({ a: 1, b: 7, c: 1, d: 4, e: 9, f: 9 })); // as in tests/views/test_hues.py
  expect(Object.fromEntries(assignSlots([...hues.keys()], (id) => hues.get(id), true))).toEqual({ a: 1, b: 0, c: 6, d: 3, e: 9, f: 2 });
});
