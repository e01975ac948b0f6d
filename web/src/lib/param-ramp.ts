/**
 * The colours from worst to best: even steps of lightness, the same order for colour-blind eyes, one ramp per theme.
 */

const LIGHT = ["#dcc98f", "#a3cd92", "#4fb0a5", "#2f7fb8", "#3b4ba8", "#371f7d"];
const DARK = ["#6f62b5", "#4a78bd", "#2f8fa8", "#3fb892", "#9ad665", "#fbe96a"];

const SHADES = 64;

export function ramp(dark: boolean): string[] {
  const stops = (dark ? DARK : LIGHT).map(channels);
  return Array.from({ length: SHADES }, (_, at) => {
    const place = (at / (SHADES - 1)) * (stops.length - 1);
    const before = Math.min(stops.length - 2, Math.floor(place));
    const from = stops[before] as number[];
    const to = stops[before + 1] as number[];
    return `rgb(${from.map((value, channel) => Math.round(value + ((to[channel] as number) - value) * (place - before))).join(",")})`;
  });
}

function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}
