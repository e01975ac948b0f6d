/** A sound as a picture: the lowest and highest sample of each slice. */

export interface Peaks {
  low: Float32Array;
  high: Float32Array;
}

/** `slices` slices over all channels; a loud click in any of them shows. */
export function peaksOf(channels: readonly Float32Array[], slices: number): Peaks {
  const length = Math.max(0, ...channels.map((channel) => channel.length));
  const count = Math.max(1, Math.min(slices, length || 1));
  const low = new Float32Array(count);
  const high = new Float32Array(count);
  for (const channel of channels) {
    for (let slice = 0; slice < count; slice++) {
      const end = Math.floor(((slice + 1) * length) / count);
      for (let at = Math.floor((slice * length) / count); at < end; at++) {
        const value = channel[at] ?? 0;
        if (value < (low[slice] as number)) low[slice] = value;
        if (value > (high[slice] as number)) high[slice] = value;
      }
    }
  }
  return { low, high };
}

/** `0:03.2`, `12:05`. */
export function clockOf(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const minutes = Math.floor(seconds / 60);
  const rest = seconds - 60 * minutes;
  return minutes >= 10
    ? `${minutes}:${String(Math.floor(rest)).padStart(2, "0")}`
    : `${minutes}:${rest.toFixed(1).padStart(4, "0")}`;
}
