/** Builds a page and a route with Next.js, and calls the route of the built server. The build may not warn. */
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const next = "node_modules/next/dist/bin/next";
execFileSync(process.execPath, [next, "build", "next"], { stdio: "inherit" });
const server = spawn(process.execPath, [next, "start", "next", "--port", "0"]);
try {
  for await (const line of createInterface(server.stdout)) {
    const [url] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (url === undefined) continue;
    console.log(await (await fetch(`${url}/sign`)).text());
    break;
  }
} finally {
  server.kill();
}
