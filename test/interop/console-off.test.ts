import { expect, it } from "vitest";
import { startAppInProcess } from "../support/service/app-in-process.ts";

it("no part of the console is served with CONSOLE=off", async () => {
  const app = await startAppInProcess({ CONSOLE: "off" });
  try {
    for (const path of ["/console", "/console/", "/console/index.html"]) {
      const { status } = await fetch(app.url + path);
      expect([path, status]).toEqual([path, 404]);
    }
    expect((await fetch(`${app.url}/v1/health`)).status).toBe(200);
  } finally {
    await app.stop();
  }
});
