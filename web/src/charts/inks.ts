/** The canvas's colours, read from the page's CSS variables so that both themes have one source. */

export interface Inks {
  background: string;
  text: string;
  quiet: string;
  grid: string;
  line: string;
  accent: string;
  bad: string;
  font: string;
}

/** Read after the theme has been applied; cheap enough to call for every full redraw. */
export function readInks(): Inks {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    background: of("--bg-raised"),
    text: of("--text"),
    quiet: of("--text-3"),
    grid: of("--border"),
    line: of("--border-strong"),
    accent: of("--accent"),
    bad: of("--bad"),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** A canvas of CSS size width x height, sharp on dense screens; its context draws in CSS pixels. */
export function sharpContext(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const ctx = canvas.getContext("2d");
  ctx?.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx?.clearRect(0, 0, width, height);
  return ctx;
}

/** Mixes from the panel's background to `colour`: a heat map's scale that fits both themes. */
export function heatScale(inks: Inks, colour: string): (part: number) => string {
  const from = rgb(inks.background);
  const to = rgb(colour);
  const table = Array.from({ length: 64 }, (_, i) => {
    const t = i / 63;
    const c = from.map((v, k) => Math.round(v + ((to[k] as number) - v) * t));
    return `rgb(${c.join(",")})`;
  });
  return (part) => table[Math.max(0, Math.min(63, Math.round(part * 63)))] as string;
}

export function rgb(colour: string): number[] {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(colour)?.slice(1);
  const hex = short ? short.map((c) => c + c).join("") : /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (hex) return [0, 2, 4].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
  const parts = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  return parts.length >= 3 ? parts.slice(0, 3) : [128, 128, 128];
}

/** Black or white, whichever reads better on a heat-map cell. */
export function readableOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = rgb(colour);
  return r * 0.299 + g * 0.587 + b * 0.114 > 150 ? "#17181c" : "#ffffff";
}
