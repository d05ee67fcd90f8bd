/** Builds a page and the program for Node with Vite, and runs the program. No build may warn. */
import { build, createLogger } from "vite";

const customLogger = createLogger("info");
customLogger.warn = customLogger.warnOnce = (text) => {
  throw new Error(text);
};
await build({
  customLogger,
  build: { outDir: "built/web", rolldownOptions: { input: "page.mjs" } },
});
await build({ customLogger, ssr: { noExternal: true }, build: { outDir: "built/node", ssr: "print.mjs" } });
await import("./built/node/print.mjs").catch(() => import("./built/node/print.js"));
