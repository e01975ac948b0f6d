import { describe, expect, test } from "vitest";
import {
  between,
  clamped,
  fit,
  levelOf,
  panned,
  readStretch,
  tilesOf,
  topLevel,
  writeStretch,
  zoomed,
} from "./timeline-camera";

describe("the camera", () => {
  test("zooms around the time under the pointer", () => {
    const camera = { begin: 1000, scale: 10 };
    const closer = zoomed(camera, 4, 300);
    expect(closer.scale).toBe(2.5);
    expect(closer.begin + 300 * closer.scale).toBe(camera.begin + 300 * camera.scale);
  });

  test("pans by pixels", () => expect(panned({ begin: 0, scale: 5 }, -10)).toEqual({ begin: 50, scale: 5 }));

  test("does not leave what there is", () => {
    const axis = { begin: 0, end: 1000 };
    expect(clamped({ begin: 0, scale: 100 }, axis, 100).scale).toBe(12);
    expect(clamped({ begin: 1e9, scale: 1 }, axis, 100).begin).toBe(1000 + 50 - 100);
    expect(clamped({ begin: -1e9, scale: 1 }, axis, 100).begin).toBe(-50);
    expect(clamped({ begin: 0, scale: 1e-9 }, axis, 100).scale).toBe(0.2);
  });

  test("shows all of a stretch", () => {
    const camera = fit(100, 200, 50);
    expect(camera.begin).toBeLessThan(100);
    expect(camera.begin + camera.scale * 50).toBeGreaterThan(200);
  });

  test("flies from one place to another and arrives", () => {
    const [from, to] = [
      { begin: 0, scale: 100 },
      { begin: 5000, scale: 1 },
    ];
    expect(between(from, to, 0, 100).scale).toBeCloseTo(100);
    const end = between(from, to, 1, 100);
    expect([end.begin, end.scale].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([5000, 1]);
    for (let part = 0; part <= 1; part += 0.1) {
      const now = between(from, to, part, 100);
      expect(now.begin).toBeLessThanOrEqual(5050);
      expect(now.begin + now.scale * 100).toBeGreaterThanOrEqual(5050);
    }
  });
});

describe("an address", () => {
  test("keeps what is on the screen", () => {
    const camera = { begin: 5000, scale: 2.5 };
    expect(writeStretch(camera, 1000, 400)).toBe("4000+1000");
    expect(readStretch("4000+1000", 1000, 400)).toEqual(camera);
    expect(readStretch("-20+8", 0, 4)).toEqual({ begin: -20, scale: 2 });
  });

  test("that means nothing is no camera", () => {
    for (const text of ["", "7", "a+b", "1+", "1e9+5", "+".repeat(99)]) expect(readStretch(text, 0, 400)).toBeNull();
  });
});

describe("tiles of a view", () => {
  test("have pixels no wider than the screen's", () => {
    expect([0.3, 1, 1.99, 2, 1000, 1025].map((scale) => levelOf(scale, 1))).toEqual([0, 0, 0, 1, 9, 10]);
    expect(levelOf(1024, 2)).toBe(9);
  });

  test("cover the view and no more than the axis", () => {
    expect(tilesOf(0, 5000, 2, 1024, 1e6)).toEqual({ level: 2, first: 0, last: 1 });
    expect(tilesOf(-500, 1e12, 10, 1024, 3 * 1024 * 1024)).toEqual({ level: 10, first: 0, last: 3 });
  });

  test("one holds everything at the top level", () => {
    for (const span of [1, 1023, 1024, 5e9, 3.3e12]) {
      const top = topLevel(span, 1024);
      expect(tilesOf(0, span, top, 1024, span)).toEqual({ level: top, first: 0, last: 0 });
    }
  });
});
