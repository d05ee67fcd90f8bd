import { appendFileSync, readFileSync } from "node:fs";
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
    resolve: { alias: [{ find: /^virtual:runbook\.md/, replacement: path.join(ROOT, "docs/runbook.md") }] },
    plugins: [{ name: "font-license", writeBundle: () => addFontLicense(path.join(outDir, LICENSES)) }],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // Every file comes from the service's own origin, as the content security policy requires.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // The licences of the bundled packages must be kept with every copy.
      license: { fileName: LICENSES },
      // Modules that most pages need are in one file; each page, and rarely needed modules, are in separate files.
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", test: COMMON }] } } },
    },
  };
}

const LICENSES = "licenses.md";
const FONT = "@fontsource-variable/inter";

/** The bundler knows the packages of scripts alone. */
function addFontLicense(file: string): void {
  const folder = path.join(ROOT, "node_modules", FONT);
  const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  const text = readFileSync(path.join(folder, "LICENSE"), "utf8");
  appendFileSync(file, `\n## ${FONT} - ${version} (OFL-1.1)\n\n${text}`);
}

/** Builds the page of the design system into a folder. It is no part of the console. */
export function designConfig(outDir: string): InlineConfig {
  const { build, ...config } = consoleConfig(outDir);
  return {
    ...config,
    plugins: [],
    root: path.join(ROOT, "src/console/design/gallery"),
    base: "/",
    build: { ...build, license: false, rolldownOptions: {} },
  };
}

const COMMON =
  /\/src\/console\/(?:address|api|design|format)\/(?!value\/qr-code|chart)|\/gen\/client\/|\/node_modules\/(?:preact|@bufbuild|@connectrpc)\//;
