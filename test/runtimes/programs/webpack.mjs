/** Builds a page in webpack's production mode, and the program for Node, which it runs. No build may warn. */
import path from "node:path";
import webpack from "webpack";

for (const [target, entry] of [
  ["web", "./page.mjs"],
  ["node", "./print.mjs"],
]) {
  const stats = await new Promise((resolve, reject) => {
    const output = { path: path.resolve("built", target), filename: "main.cjs" };
    const settings = { mode: "production", context: process.cwd(), target, entry: { main: entry }, output };
    webpack(settings, (error, done) => (error ? reject(error) : resolve(done)));
  });
  if (stats.hasWarnings() || stats.hasErrors()) throw new Error(stats.toString("errors-warnings"));
}
await import("./built/node/main.cjs");
