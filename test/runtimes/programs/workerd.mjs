/** Bundles the module for workerd and calls it. */
import { build } from "esbuild";
import { Miniflare } from "miniflare";

await build({
  entryPoints: ["workerd-module.mjs"],
  outfile: "bundle.mjs",
  bundle: true,
  format: "esm",
  platform: "browser",
  conditions: ["workerd"],
  logLevel: "warning",
});
const miniflare = new Miniflare({
  modules: true,
  scriptPath: "bundle.mjs",
  compatibilityDate: "2026-07-01",
});
try {
  const reply = await miniflare.dispatchFetch("http://localhost/");
  console.log(await reply.text());
} finally {
  await miniflare.dispose();
}
