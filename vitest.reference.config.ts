import { defineConfig } from "vitest/config";

// Comparisons with Ika's own code that take minutes. Other tests use what was recorded of it.
export default defineConfig({
  test: {
    include: ["test/reference/**/*.test.ts"],
    testTimeout: 600_000,
  },
});
