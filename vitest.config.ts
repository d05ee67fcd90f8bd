import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/summary-reporter.ts"],
    // Suites are told apart by folder. Groups run one after the other, so that the slow ones have the machine alone.
    // Where it is not said, one core is left to what a test starts beside itself.
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/tidy.test.ts"],
          // The files share their modules, so that each module is loaded once.
          isolate: false,
          // A hang is ended; how fast a busy machine is decides nothing.
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "component",
          include: ["test/component/**/*.test.ts"],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // Tests that replace a module by another one, for themselves alone.
          name: "isolated",
          include: ["test/isolated/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "race",
          isolate: false,
          include: ["test/race/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "sim",
          include: ["test/sim/**/*.test.ts"],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: "interop",
          isolate: false,
          include: ["test/interop/**/*.test.ts"],
          globalSetup: "./test/interop/compile-protos.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: "fuzz",
          include: ["test/fuzz/**/*.test.ts"],
          testTimeout: 600_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: "crypto",
          include: ["test/crypto/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Real cryptography, each file for about one core.
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 6 },
        },
      },
      {
        extends: true,
        test: {
          name: "flow",
          isolate: false,
          include: ["test/flow/**/*.test.ts"],
          globalSetup: ["./test/support/compile-program.ts", "./test/flow/bakery.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // A flow is a client, a service and a network; one works while the others wait. The processors of two flows are
          // busy for little more than half of the time, so a third one fits in.
          maxWorkers: Math.min(4, availableParallelism() + 1),
          sequence: { groupOrder: 7 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: "./test/support/compile-program.ts",
          testTimeout: 120_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 8 },
        },
      },
    ],
  },
});
