import { expect, test } from "vitest";
import { assignSlots, DASHES, lookOf, PALETTE, spreadSlots, swatch } from "./colour";

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
    expect(contrast(ink.light, "#ffffff")).toBeGreaterThan(3);
    expect(contrast(ink.dark, "#121316")).toBeGreaterThan(4.5);
  }
});

type Triple = [number, number, number];
const times = (matrix: readonly Triple[], [a, b, c]: Triple): Triple =>
  matrix.map((row) => row[0] * a + row[1] * b + row[2] * c) as Triple;
const linear = (hex: string): Triple =>
  [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Triple;

/** How the eye measures colors: distances in OKLab. */
function oklab(rgb: Triple): Triple {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones.map((c) => Math.cbrt(Math.max(0, c))) as Triple,
  );
}

/**
 * What is left of a color without one kind of cone (Machado, Oliveira and Fernandes 2009), and how far two must stay
 * apart then.
 */
const EYES: Record<string, readonly [Triple[], number]> = {
  usual: [
    [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    0.115,
  ],
  "no red": [
    [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
    0.115,
  ],
  "no green": [
    [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    0.115,
  ],
  "no blue": [
    [
      [1.255528, -0.076749, -0.178779],
      [-0.078411, 0.930809, 0.147602],
      [0.004733, 0.691367, 0.3039],
    ],
    0.09,
  ],
};

test.each(["light", "dark"] as const)("any two inks stay apart for every kind of eye, %s", (theme) => {
  for (const [eye, [matrix, least]] of Object.entries(EYES)) {
    const seen = PALETTE.map((ink) =>
      oklab(times(matrix, linear(ink[theme])).map((c) => Math.min(1, Math.max(0, c))) as Triple),
    );
    seen.forEach((one, a) =>
      seen
        .slice(0, a)
        .forEach((other, b) =>
          expect(Math.hypot(...one.map((c, i) => c - (other[i] as number))), `${eye}: ${a} and ${b}`).toBeGreaterThan(
            least,
          ),
        ),
    );
  }
});

const hueOf = (id: string): number => Number(id.slice(-3)) % PALETTE.length;
const slotsOf = (some: readonly string[]) => assignSlots(some, hueOf);

test("a run always has its own hue, whoever is drawn beside it", () => {
  for (const some of [ids, ids.slice(20, 30), [ids[41] as string]])
    for (const [id, slot] of slotsOf(some)) expect(slot % PALETTE.length).toBe(hueOf(id));
});

test("of runs with one hue the first is solid and the others are dashed, each in its own way", () => {
  const alike = [3, 11, 19, 27].map((at) => ids[at] as string);
  expect([...slotsOf(alike).values()]).toEqual([3, 11, 19, 27]);
  expect(new Set(slotsOf(ids.slice(0, 40)).values()).size).toBe(PALETTE.length * DASHES.length);
});

test("more runs than looks still get one each", () => {
  expect(slotsOf([...ids, "one more 061"]).has("one more 061")).toBe(true);
});

test("adding a run changes the look of no other", () => {
  const before = slotsOf(ids.slice(0, 20));
  const added = slotsOf(ids.slice(0, 21));
  for (const id of ids.slice(0, 20)) expect(added.get(id)).toBe(before.get(id));
});

test("groups have hues of their own while there are any", () => {
  const slots = [...spreadSlots(["a", "b", "c", "d", "e", "f", "g", "h", "i"], () => 2).values()];
  expect(new Set(slots.slice(0, 8).map((slot) => slot % PALETTE.length)).size).toBe(8);
  expect(slots.slice(0, 8).every((slot) => slot < 8)).toBe(true);
  expect(slots[8]).toBe(10);
});

test("a run that is not known is grey, not somebody's color", () => {
  expect(assignSlots(["x"], () => undefined).size).toBe(0);
  expect(PALETTE.map((ink) => ink.light)).not.toContain(lookOf(undefined, false).colour);
});

test("a legend breaks its bar as the line is broken", () => {
  expect(lookOf(9, true)).toEqual({ colour: PALETTE[1]?.dark, dash: DASHES[1], slot: 9 });
  expect(swatch(lookOf(1, true))).toBe(PALETTE[1]?.dark);
  expect(swatch(lookOf(9, true))).toContain("repeating-linear-gradient");
});

test("the server's pictures of a report follow the same rule", () => {
  const hues = new Map(Object.entries({ a: 1, b: 7, c: 1, d: 4, e: 1 })); // as in tests/views/test_hues.py
  expect(Object.fromEntries(assignSlots([...hues.keys()], (id) => hues.get(id)))).toEqual({
    a: 1,
    b: 7,
    c: 9,
    d: 4,
    e: 17,
  });
});
