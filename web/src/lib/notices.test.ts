import { expect, test } from "vitest";
import { isMuted, merged, unread } from "./notices";
import type { Notice } from "./schema";

function notice(id: string, time: number, more: Partial<Notice> = {}): Notice {
  return {
    id,
    time,
    run: "r1",
    title: id,
    text: "",
    level: "error",
    kind: "failed",
    name: "otter",
    project: "vae",
    ...more,
  };
}

test("the same notice twice is one, the newest is first", () => {
  const list = merged([notice("a", 1), notice("b", 2)], [notice("b", 2), notice("c", 3)]);
  expect(list.map((one) => one.id)).toEqual(["c", "b", "a"]);
});

test("a run, a project or a kind can be muted", () => {
  expect(isMuted(notice("a", 1), new Set(["run:r1"]))).toBe(true);
  expect(isMuted(notice("a", 1), new Set(["project:vae"]))).toBe(true);
  expect(isMuted(notice("a", 1), new Set(["kind:dropped", "run:r2"]))).toBe(false);
});

test("counts what is new and not muted", () => {
  const list = [notice("a", 5), notice("b", 9), notice("c", 10, { run: "r2" })];
  expect(unread(list, 5, new Set(["run:r2"]))).toBe(1);
});
