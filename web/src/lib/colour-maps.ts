/**
 * Colour maps of 256 colours, from a few of their colours with straight lines between. Even in brightness from end to
 * end.
 */

const STOPS = {
  gray: "000000 ffffff",
  viridis:
    "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725",
  magma:
    "000004 0a0822 1d1147 36106b 51127c 6a1c81 832681 9c2e7f b73779 d0416f e75263 f56b5c fc8961 fea772 fec488 fde2a3 fcfdbf",
} as const;

export type MapName = keyof typeof STOPS;

function table(stops: string): Uint8Array {
  const colours = stops.split(" ").map((hex) => [0, 2, 4].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)));
  const out = new Uint8Array(256 * 3);
  for (let level = 0; level < 256; level++) {
    const place = (level / 255) * (colours.length - 1);
    const from = Math.min(colours.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c++) {
      const a = (colours[from] as number[])[c] as number;
      const b = (colours[from + 1] as number[])[c] as number;
      out[level * 3 + c] = Math.round(a + (b - a) * (place - from));
    }
  }
  return out;
}

/** Red, green and blue for each of 256 levels. */
export const MAPS: Readonly<Record<MapName, Uint8Array>> = {
  gray: table(STOPS.gray),
  viridis: table(STOPS.viridis),
  magma: table(STOPS.magma),
};

/** The colour at a place from 0 to 1, as CSS has it. */
export function mapColour(name: MapName, part: number): string {
  const at = 3 * Math.max(0, Math.min(255, Math.round(part * 255)));
  const map = MAPS[name];
  return `rgb(${map[at]},${map[at + 1]},${map[at + 2]})`;
}
