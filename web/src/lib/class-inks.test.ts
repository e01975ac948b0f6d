import { expect, test } from "vitest";
import { CLASS_INKS, classLook, MOST_CLASSES } from "./class-inks";

type Three = [number, number, number];

const linear = (hex: string): Three =>
  [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as Three;
const times = (rows: readonly Three[], v: Three): Three =>
  rows.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Three;

function oklab(rgb: Three): Three {
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
    cones.map(Math.cbrt) as Three,
  );
}

/** What eyes without red or green cones see of a colour, after Machado, Oliveira and Fernandes (2009). */
const EYES: Record<string, readonly Three[]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no red": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no green": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function leastApart(colours: readonly string[], eyes: readonly Three[]): number {
  const seen = colours.map((hex) => oklab(times(eyes, linear(hex)).map((v) => Math.min(1, Math.max(0, v))) as Three));
  return Math.min(
    ...seen.flatMap((a, i) => seen.slice(i + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]))),
  );
}

function contrast(a: string, b: string): number {
  const [high, low] = [a, b].map((hex) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0]).sort((x, y) => y - x) as [
    number,
    number,
  ];
  return (high + 0.05) / (low + 0.05);
}

test.each(["light", "dark"] as const)("ten classes are clearly apart, and seen at all: %s", (theme) => {
  const colours = CLASS_INKS.map((ink) => ink[theme]);
  expect(leastApart(colours, EYES.all as readonly Three[])).toBeGreaterThan(0.14);
  expect(leastApart(colours, EYES["no red"] as readonly Three[])).toBeGreaterThan(0.07);
  expect(leastApart(colours, EYES["no green"] as readonly Three[])).toBeGreaterThan(0.07);
  for (const colour of colours)
    expect(contrast(colour, theme === "dark" ? "#1c1d22" : "#ffffff")).toBeGreaterThan(theme === "dark" ? 4 : 2.95);
});

test("more classes use the colours again with another shape", () => {
  expect(classLook(13, false)).toEqual({ colour: CLASS_INKS[3]?.light, shape: "square" });
  const looks = Array.from({ length: MOST_CLASSES }, (_, at) => JSON.stringify(classLook(at, true)));
  expect(new Set(looks).size).toBe(MOST_CLASSES);
});
