import { defineConfig } from "vitest/config";

// The pictures of the docs are taken by the same harness that the browser tests use; `scripts/gallery` runs this.
export default defineConfig({
  test: { include: ["browser/gallery.ts"], environment: "node", testTimeout: 90_000, hookTimeout: 240_000 },
});
