import path from "node:path";
import type { InlineConfig } from "vite";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** How the console is built into a folder. The names of all files but the page have a hash of their content. */
export function consoleConfig(outDir: string): InlineConfig {
  return {
    root: path.join(ROOT, "src/console"),
    base: "/console/",
    configFile: false,
    logLevel: "warn",
    build: {
      ...{ outDir, emptyOutDir: true, target: "es2022" },
      // Every file comes from the service's own origin, as the content security policy asks for.
      ...{ assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
      // The licences of the bundled packages ask to be kept with every copy.
      license: { fileName: "licenses.md" },
      // What most pages need comes in one file; each page, and what only few need, in another.
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", test: COMMON }] } } },
    },
  };
}

const COMMON =
  /\/src\/console\/(?:api|format|ui)\/(?!qr-code|line-chart)|\/gen\/client\/|\/node_modules\/(?:preact|@bufbuild|@connectrpc)\//;
