import { afterEach, expect, test, vi } from "vitest";
import { addressOf, ApiError, call, readRefusal } from "./api";

afterEach(() => vi.unstubAllGlobals());

test("a refusal keeps the server's words, hint and the place in the query", () => {
  const error = readRefusal(
    400,
    JSON.stringify({ error: "there is no status 'fialed'", hint: "did you mean failed?", position: 9, id: null }),
  );
  expect(error).toMatchObject({
    message: "there is no status 'fialed'",
    status: 400,
    position: 9,
    hint: "did you mean failed?",
    id: null,
  });
});

test("an answer that is not ours still gives a sentence", () => {
  expect(readRefusal(502, "<html>Bad gateway").message).toBe("The server answered with status 502.");
  expect(readRefusal(401, "").message).toContain("access token");
  expect(readRefusal(500, '{"error": 5}').message).toBe("The server answered with status 500.");
});

test("path parts are escaped and a GET carries the rest", () => {
  const request = { run: "01A/..", keys: ["a", "b&c"], none: null };
  expect(addressOf("/api/export/{run}.csv", request)).toBe("/api/export/01A%2F...csv?keys=a&keys=b%26c");
});

test("a call sends the header that other sites cannot, and JSON", async () => {
  const fetched = vi.fn(async () => new Response('{"rows": []}'));
  vi.stubGlobal("fetch", fetched);
  await call("POST /api/runs", { query: "x" });
  const [url, init] = fetched.mock.calls[0] as unknown as [string, RequestInit];
  expect(url).toBe("/api/runs");
  expect(init.headers).toMatchObject({ "X-Stepscope": "1", "Content-Type": "application/json" });
  expect(init.body).toBe('{"query":"x"}');
});

test("no answer at all is said as such", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
  const fault = await call("GET /api/info", {}).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(ApiError);
  expect((fault as ApiError).offline).toBe(true);
});
