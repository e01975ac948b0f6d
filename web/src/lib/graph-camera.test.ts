import { expect, test } from "vitest";
import { intoWidth } from "./graph-camera";

const camera = { left: 100, top: 40, scale: 2 };
const screen = { width: 600, height: 400 };

test("what is on the screen already stays under the pointer", () => {
  expect(intoWidth(camera, { x: 10, y: 0, w: 100, h: 20 }, screen)).toBe(camera);
});

test("what a narrower screen would cut moves just so far that it ends on it", () => {
  const moved = intoWidth(camera, { x: 200, y: 0, w: 100, h: 20 }, screen);
  expect(300 * moved.scale + moved.left).toBe(600 - 28);
  expect([moved.top, moved.scale]).toEqual([camera.top, camera.scale]);
});

test("what is too wide for the screen stays", () => {
  expect(intoWidth(camera, { x: 0, y: 0, w: 400, h: 20 }, screen)).toBe(camera);
});
