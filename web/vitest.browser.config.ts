import { defineConfig } from "vitest/config";

// The times are ceilings for a machine that does much else; nothing waits so long otherwise.
// Every file has servers and a browser of its own; two files at a time fill the two cores of a small machine.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    environment: "node",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 45_000 } },
  },
});
