import path from "node:path";
import type { InlineConfig } from "vite";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Builds the console into a folder. The names of all files except the page contain a hash of their content. */
export function consoleConfig(outDir: string): InlineConfig {
  return {
    root: path.join(ROOT, "src/console"),
    base: "/console/",
    configFile: false,
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // Every file comes from the service's own origin, as the content security policy requires.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // The licences of the bundled packages must be kept with every copy.
      license: { fileName: "licenses.md" },
      // Modules that most pages need are in one file; each page, and rarely needed modules, are in separate files.
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", test: COMMON }] } } },
    },
  };
}

const COMMON =
  /\/src\/console\/(?:api|format|ui)\/(?!qr-code|line-chart)|\/gen\/client\/|\/node_modules\/(?:preact|@bufbuild|@connectrpc)\//;
