import { describe, expect, it } from "vitest";
import { mapColour } from "./colour-maps";
import {
  adjustCodec,
  adjusted,
  countLevels,
  difference,
  isNeutral,
  levelsOf,
  levelTable,
  NEUTRAL,
  type Pixels,
  loggedValue,
} from "./image-adjust";

/** A grey picture of these levels. */
const grey = (levels: number[], width = levels.length): Pixels => ({
  width,
  height: levels.length / width,
  data: Uint8ClampedArray.from(levels.flatMap((v) => [v, v, v, 255])),
});
const reds = (pixels: Pixels): number[] => [...pixels.data].filter((_, at) => at % 4 === 0);

describe("contrast", () => {
  it("does nothing when nothing is asked for", () => {
    const picture = grey([0, 7, 200, 255]);
    expect([...adjusted(picture, NEUTRAL).data]).toEqual([...picture.data]);
    expect(isNeutral(NEUTRAL)).toBe(true);
  });

  it("stretches a dull picture from black to white", () => {
    expect(reds(adjusted(grey([100, 110, 120]), { ...NEUTRAL, stretch: "auto" }))).toEqual([0, 128, 255]);
  });

  it("leaves a flat picture alone instead of dividing by nothing", () => {
    for (const stretch of ["auto", "equalise"] as const)
      expect(reds(adjusted(grey([90, 90, 90]), { ...NEUTRAL, stretch }))).toEqual([90, 90, 90]);
  });

  it("equalises: each step of brightness gets room for as many pixels as have it", () => {
    const levels = [10, 10, 10, 10, 11, 12, 200, 200];
    // Counted by hand: four at the bottom, then 1, 1 and 2 of the other four.
    expect(reds(adjusted(grey(levels), { ...NEUTRAL, stretch: "equalise" }))).toEqual([0, 0, 0, 0, 64, 128, 255, 255]);
  });

  it("brightens the middle with a gamma above one, and keeps the ends", () => {
    const table = levelTable(countLevels(new Uint8Array([0, 255])), { ...NEUTRAL, gamma: 2 });
    expect([table[0], table[64], table[255]]).toEqual([0, Math.round(255 * Math.sqrt(64 / 255)), 255]);
  });
});

describe("channels and colours", () => {
  const picture: Pixels = { width: 1, height: 1, data: Uint8ClampedArray.from([200, 100, 0, 128]) };

  it("shows one channel as grey, and transparency without itself", () => {
    expect([...adjusted(picture, { ...NEUTRAL, channel: "g" }).data]).toEqual([100, 100, 100, 128]);
    expect([...adjusted(picture, { ...NEUTRAL, channel: "a" }).data]).toEqual([128, 128, 128, 255]);
  });

  it("paints brightness with a map whose ends are those of the original", () => {
    expect(mapColour("viridis", 0)).toBe("rgb(68,1,84)");
    expect(mapColour("viridis", 1)).toBe("rgb(253,231,37)");
    expect([...adjusted(grey([255]), { ...NEUTRAL, map: "viridis" }).data]).toEqual([253, 231, 37, 255]);
  });

  it("weighs colours as the eye does", () => {
    expect([
      ...levelsOf(
        { width: 3, height: 1, data: Uint8ClampedArray.from([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255]) },
        "all",
      ),
    ]).toEqual([54, 182, 18]);
  });
});

describe("what was logged", () => {
  it("comes back from a level where the record says how it was scaled", () => {
    expect(loggedValue(0, [-2, 3])).toBe(-2);
    expect(loggedValue(255, [-2, 3])).toBe(3);
    expect(loggedValue(255, "each")).toBeNull();
  });

  it("is written into the address and read back; nonsense is refused", () => {
    const adjust = { stretch: "equalise", gamma: 1.4, map: "viridis", channel: "r" } as const;
    expect(adjustCodec.read(adjustCodec.write(adjust))).toEqual(adjust);
    for (const text of ["x", "auto,99,none,all", "auto,1,rainbow,all", "auto,1,none,z", "auto,NaN,none,all"])
      expect(adjustCodec.read(text)).toBeUndefined();
  });
});

describe("difference", () => {
  it("says how far two pictures are apart, and where", () => {
    const found = difference(grey([10, 20, 30, 40], 2), grey([10, 20, 40, 0], 2));
    expect([found?.most, found?.changed, found?.mean]).toEqual([40, 2, (10 + 40) / 4]);
    const data = found?.pixels.data ?? new Uint8ClampedArray();
    expect([...data.slice(0, 3)]).toEqual([245, 245, 245]);
    expect((data[8] as number) > (data[10] as number)).toBe(true); // brighter: towards red
    expect((data[14] as number) > (data[12] as number)).toBe(true); // darker: towards blue
  });

  it("is not made of pictures of different sizes", () => {
    expect(difference(grey([1, 2]), grey([1, 2, 3]))).toBeNull();
  });
});
