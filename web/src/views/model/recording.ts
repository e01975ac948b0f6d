/** How a recording is written in the address. */
export function recordingId(one: { step: number; key: string }): string {
  return `${one.step}:${one.key}`;
}
