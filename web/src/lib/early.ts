/**
 * Answers that `public/early.js` asked for before the app was there. Each is given once, and only while it is fresh.
 */

const FRESH_MS = 10_000;

type Asked = Record<string, Promise<Response>>;

/** The answer to exactly this request, or null. */
export function takeEarly(
  method: string,
  url: string,
  body: string | null,
  now = performance.now(),
): Promise<Response> | null {
  const asked = (globalThis as { stepscopeEarly?: Asked }).stepscopeEarly;
  const id = `${method} ${url} ${body ?? ""}`;
  const found = asked?.[id];
  if (!asked || !found) return null;
  delete asked[id];
  return now < FRESH_MS ? found : null;
}
