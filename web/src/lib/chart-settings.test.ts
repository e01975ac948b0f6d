import { describe, expect, it } from "vitest";
import type { Zooms } from "./chart-zoom";
import {
  amountAt,
  panelOptionsCodec,
  panelX,
  smoothCodec,
  sliderOf,
  smoothOf,
  withOptions,
  zoomCodec,
} from "./chart-settings";

describe("the layout in the address", () => {
  it("comes back as it was written", () => {
    const smooth = { kind: "ema", amount: 0.95 } as const;
    expect(smoothCodec.read(smoothCodec.write(smooth))).toEqual(smooth);
    const several: Zooms[] = [{ step: [1, 2.5] }, { "a:b,c": [0, 1], step: [3, 4] }];
    for (const zooms of several) expect(zoomCodec.read(zoomCodec.write(zooms))).toEqual(zooms);
    const own = { "val/loss": { log: true, y: [0, 1] as const } };
    expect(panelOptionsCodec.read(panelOptionsCodec.write(own))).toEqual(own);
  });
  it("refuses what is not a layout instead of breaking the page", () => {
    expect([smoothCodec.read("evil:1"), smoothCodec.read("ema:x"), smoothCodec.read("ema:9")]).toEqual([
      undefined,
      undefined,
      { kind: "ema", amount: 0.999 },
    ]);
    expect([
      zoomCodec.read("5:1"),
      zoomCodec.read("a:b"),
      zoomCodec.read("1:1"),
      zoomCodec.read('{"x":[1]}'),
      zoomCodec.read("{"),
    ]).toEqual(Array(5).fill(undefined));
    expect(panelOptionsCodec.read('{"a":{"y":[2,1]}}')).toBeUndefined();
  });
});

it("stretches the slider where the exponential weight matters", () => {
  for (const amount of [0, 0.5, 0.9, 0.99, 0.999])
    expect(amountAt("ema", sliderOf({ kind: "ema", amount }))).toBeCloseTo(amount, 2);
  expect(amountAt("gaussian", 0.5)).toBe(50);
  expect(smoothOf("none", 3)).toEqual({ kind: "none", amount: 0 });
});

it("drops a panel's own options when none is left", () => {
  const one = withOptions({}, "a", { log: true });
  expect(one).toEqual({ a: { log: true } });
  expect(withOptions(one, "a", { log: undefined })).toEqual({});
});

it("uses a metric's own x-axis only while the toolbar says step", () => {
  expect([panelX("step", "epoch"), panelX("wall", "epoch"), panelX("step", null)]).toEqual(["epoch", "wall", "step"]);
});
