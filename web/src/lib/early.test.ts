import { afterEach, expect, test } from "vitest";
import { takeEarly } from "./early";

const page = globalThis as { stepscopeEarly?: Record<string, Promise<Response>> };
afterEach(() => void delete page.stepscopeEarly);

test("an early answer is given once, to the same request, while it is fresh", () => {
  expect(takeEarly("POST", "/api/runs", "{}", 1)).toBe(null);
  const answer = Promise.resolve(new Response("{}"));
  page.stepscopeEarly = { "POST /api/runs {}": answer, "POST /api/panels {}": answer };
  expect(takeEarly("POST", "/api/runs", '{"query":"x"}', 1)).toBe(null);
  expect(takeEarly("POST", "/api/runs", "{}", 1)).toBe(answer);
  expect(takeEarly("POST", "/api/runs", "{}", 1)).toBe(null);
  expect(takeEarly("POST", "/api/panels", "{}", 60_000)).toBe(null);
});
