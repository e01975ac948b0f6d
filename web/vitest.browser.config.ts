import { defineConfig } from "vitest/config";

// One server and one browser serve all files, so they run in one worker, one after the other.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
