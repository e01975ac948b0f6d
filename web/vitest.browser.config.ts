import { defineConfig } from "vitest/config";

// Every file has servers and a browser of its own; two files at a time fill the two cores of a small machine.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    environment: "node",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
