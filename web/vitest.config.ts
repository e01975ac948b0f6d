import { defineConfig } from "vitest/config";

// The time is a ceiling for a machine that does much else; nothing takes so long otherwise.
export default defineConfig({
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
