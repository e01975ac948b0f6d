import { describe, expect, it } from "vitest";
import { FIT, panned, partAt, pixelAt, placed, zoomAt } from "./look-camera";

const picture = { width: 100, height: 50 };
const pane = { width: 400, height: 400 };

describe("looking at a picture", () => {
  it("fits it into its pane", () => {
    expect(placed(FIT, picture, pane)).toEqual({ left: 0, top: 100, scale: 4 });
  });

  it("finds the pixel under the pointer, and none beside the picture", () => {
    expect(pixelAt(partAt(FIT, picture, pane, 2, 102), picture)).toEqual({ x: 0, y: 0 });
    expect(pixelAt(partAt(FIT, picture, pane, 399, 299), picture)).toEqual({ x: 99, y: 49 });
    expect(pixelAt(partAt(FIT, picture, pane, 10, 50), picture)).toBeNull();
  });

  it("keeps the pixel under the pointer while zooming", () => {
    const before = partAt(FIT, picture, pane, 250, 210);
    const after = partAt(zoomAt(FIT, picture, pane, 250, 210, 3), picture, pane, 250, 210);
    expect(after.u).toBeCloseTo(before.u, 9);
    expect(after.v).toBeCloseTo(before.v, 9);
  });

  it("shows the same part of a picture of another size", () => {
    const near = zoomAt(FIT, picture, pane, 100, 150, 4);
    const twice = { width: 200, height: 100 };
    expect(partAt(near, twice, pane, 320, 80).u).toBeCloseTo(partAt(near, picture, pane, 320, 80).u, 9);
  });

  it("does not lose the picture", () => {
    let camera = zoomAt(FIT, picture, pane, 200, 200, 1000);
    for (let i = 0; i < 50; i++) camera = panned(camera, picture, pane, 500, 500);
    const { u, v } = partAt(camera, picture, pane, 399, 399);
    expect(u).toBeGreaterThan(0);
    expect(v).toBeGreaterThan(0);
    expect(zoomAt(camera, picture, pane, 0, 0, 1e-9).zoom).toBe(1);
  });
});
