import { expect, test } from "vitest";
import { describeRetention, parseBytes, parseLimit, totalBytes, usedOf } from "./storage";

test("reads sizes as people write them", () => {
  expect(["500 GB", "1.5TiB", "12", "2k", "", " "].map(parseBytes)).toEqual([
    500 * 2 ** 30,
    1.5 * 2 ** 40,
    12,
    2048,
    null,
    null,
  ]);
  expect(["much", "-3", "5 XB"].map(parseBytes)).toEqual([undefined, undefined, undefined]);
});

test("reads limits, where nothing means no limit", () => {
  expect(["30", "0", "", "0.5", "-1", "x"].map(parseLimit)).toEqual([30, 0, null, 0.5, undefined, undefined]);
});

test("says what is kept", () => {
  const all = { points_days: null, media_newest: null, artifact_days: null, trash_days: 30 };
  expect(describeRetention(all)).toBe("trash for 30 days");
  expect(describeRetention({ points_days: 1, media_newest: 5, artifact_days: 90, trash_days: 7 })).toBe(
    "all points for 1 day, newest 5 media per key, unused artifacts for 90 days, trash for 7 days",
  );
});

test("adds up what a project takes", () => {
  const one = { points: 1, media: 2, artifacts: 3, other: 4, incoming: 5, trash: 6 };
  expect(totalBytes(one)).toBe(21);
  expect([usedOf(1024, null), usedOf(1024, 2048)]).toEqual(["1 KiB", "1 KiB of 2 KiB"]);
});
