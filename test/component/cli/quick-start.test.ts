import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { takePidLock } from "../../../src/service/platform/store/pid-lock.ts";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { ADMIN_KEY, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { printed, runCli } from "./run-cli.ts";

it(
  "an operator's and a project's command find a service that runs on the data folder without a URL",
  async () => {
    const stack = await startErrorStack();
    const data = mkdtempSync(path.join(tmpdir(), "tss-quick-"));
    const held = await takePidLock(path.join(data, "pg.lock"));
    try {
      const { key: apiKey } = await stack.newProject();
      const access = { baseUrl: stack.url, adminApiKey: ADMIN_KEY, apiKey };
      writeFileSync(path.join(data, "dev.json"), JSON.stringify(access));
      const here = { DATA_DIR: data };
      const listed = await runCli(["project", "list"], here);
      expect(listed).toMatchObject({ exitCode: 0, out: expect.stringContaining("BALANCE") });
      expect(listed.err).toBe(`calling the service at ${stack.url}, which runs on ${data}, as its operator`);
      const own = await runCli(["ledger", "list"], here);
      expect(own).toMatchObject({
        exitCode: 0,
        err: expect.stringMatching(/project of the key in dev.json/),
      });
      const other = await runCli(["ledger", "list"], { ...here, TSS_API_KEY: apiKey });
      expect(other.err).toMatch(/project of the key in TSS_API_KEY/);
      expect(await printed(["presign", "health"], here)).toContain("BUCKET");
    } finally {
      await held.release();
      rmSync(data, { recursive: true });
      await stack.close();
    }
  },
  DATABASE_TIMEOUT_MS,
);
