/** Hue, saturation and lightness as red, green and blue. */

export type Rgb = readonly [number, number, number];

export function rgbOf(hue: number, saturation: number, lightness: number): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const at = (turn: number) => {
    const k = (turn + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [at(0), at(8), at(4)];
}
