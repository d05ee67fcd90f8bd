import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/summary-reporter.ts"],
    sequence: { sequencer: LongestFirst },
    // Many tests wait for a database, a process or a page, so two more fit in than there are processors.
    maxWorkers: Math.min(8, availableParallelism() + 2),
    // The projects share what is compiled of their modules.
    experimental: { fsModuleCache: true },
    // A worker loads its modules anew for each project, so folders that need the same setup are one project.
    projects: [
      {
        extends: true,
        test: {
          // Apart from the tests with connections, which could use a timer while one of these counts them.
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/tidy.test.ts"],
          // The files share their modules, so that each module is loaded once.
          isolate: false,
          // A hang is ended; how fast a busy machine is decides nothing.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "component",
          include: ["test/{component,race,sim,fuzz,crypto}/**/*.test.ts"],
          globalSetup: ["./test/support/database/template-setup.ts"],
          isolate: false,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          // Tests that replace a module by another one, for themselves alone.
          name: "isolated",
          include: ["test/isolated/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "interop",
          isolate: false,
          include: ["test/interop/**/*.test.ts"],
          globalSetup: ["./test/support/repository/compile-program.ts", "./test/interop/compile-protos.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          // Services in processes of their own, and pages. They need memory, so they run last.
          name: "flow",
          isolate: false,
          include: ["test/{flow,browser}/**/*.test.ts"],
          globalSetup: ["./test/support/repository/compile-program.ts", "./test/flow/bakery.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
