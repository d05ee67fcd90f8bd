import { defineConfig } from "vitest/config";

// Comparisons with Ika's own code that take minutes. Other runs compare with what was recorded of it.
export default defineConfig({
  test: {
    include: [
      "test/reference/**/*.test.ts",
      "test/crypto/**/*.test.ts",
      "test/isolated/client/crypto/own-half-faults.test.ts",
    ],
    env: { TEST_REFERENCE: "true" },
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
