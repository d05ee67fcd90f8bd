/** Bundles the program as React Native does, compiles the bundle with Hermes, and runs it with a fetch without streams. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import Metro from "metro";

const require = createRequire(import.meta.url);
const config = await Metro.loadConfig(
  { cwd: process.cwd() },
  {
    projectRoot: process.cwd(),
    resolver: { unstable_conditionNames: ["react-native"], sourceExts: ["js", "mjs", "cjs", "json"] },
    serializer: { getPolyfills: () => [] },
    transformer: { babelTransformerPath: require.resolve("@react-native/metro-babel-transformer") },
    reporter: { update: ({ type, ...event }) => /warn|error/.test(type) && console.log(type, event) },
  },
);
await Metro.runBuild(config, {
  entry: "react-native.js",
  out: "bundle.js",
  platform: "android",
  minify: false,
  dev: false,
});
const hermesc = require
  .resolve("hermes-compiler/package.json")
  .replace("package.json", "hermesc/linux64-bin/hermesc");
const compiled = execFileSync(hermesc, ["-O", "-emit-binary", "-out", "bundle.hbc", "bundle.js"], {
  encoding: "utf8",
  stdio: "pipe",
});
if (compiled !== "") throw new Error(compiled);

// React Native's Response has no stream.
const { fetch } = globalThis;
globalThis.fetch = async (...request) => withoutBody(await fetch(...request));
const { Response } = globalThis;
globalThis.Response = class extends Response {
  get body() {
    return undefined;
  }
};
globalThis.print = (text) => console.log(text);
runInThisContext(readFileSync("bundle.js", "utf8"), { filename: "bundle.js" });

function withoutBody(reply) {
  return new Proxy(reply, {
    get(target, name) {
      if (name === "body") return undefined;
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
