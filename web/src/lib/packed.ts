/** Columns of numbers that came as bytes in base64: `f4:…` or `f8:…`, little-endian like every machine that runs a browser. */

export function unpack(text: string): Float64Array {
  const wide = text.startsWith("f8:");
  if (!wide && !text.startsWith("f4:")) throw new Error(`a packed column begins with f4: or f8:, not ${JSON.stringify(text.slice(0, 3))}`);
  const letters = atob(text.slice(3));
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return wide ? new Float64Array(bytes.buffer) : Float64Array.from(new Float32Array(bytes.buffer));
}
