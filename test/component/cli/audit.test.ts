import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate } from "../../../src/service/platform/store/migrate.ts";
import { openDatabase } from "../../../src/service/platform/store/open-database.ts";
import { sealAll, writeEvents } from "../../support/database/audit-trail.ts";
import { migratedFolder } from "../../support/database/migrated-folder.ts";
import { runTss } from "../../support/service/service.ts";
import { silentLog } from "../../support/silent-log.ts";
import { runCli } from "./run-cli.ts";

const { folder, remove } = await migratedFolder();
const file = path.join(folder, "audit.ndjson");
const TIMEOUT_MS = 120_000;
beforeAll(async () => {
  const database = await openDatabase({ databaseUrl: undefined, dataDirectory: folder, log: silentLog });
  await migrate(database, silentLog);
  for (const count of [3, 4]) {
    await writeEvents(database, count);
    await sealAll(database);
  }
  await writeEvents(database, 2);
  await database.close();
}, TIMEOUT_MS);
afterAll(remove);

async function tss(...argv: string[]) {
  const { exitCode, out, err } = await runCli(["audit", ...argv], { DATA_DIR: folder });
  const lines = (text: string) => (text === "" ? "" : `${text}\n`);
  return { stdout: lines(out), stderr: lines(err), code: exitCode };
}

/** Runs in a separate process, because it writes to standard output. */
async function exported(): Promise<string> {
  const child = runTss(["audit", "export"], { DATA_DIR: folder });
  return text(child.stdout!);
}

it(
  "exports the sealed events to a file or to standard output, says how many are unsealed, and overwrites nothing",
  async () => {
    const written = await tss("export", "--output", file);
    expect(written).toEqual({
      stdout: "",
      stderr: "2 newer events are not sealed yet and are not in the export\n",
      code: 0,
    });
    expect(await exported()).toBe(readFileSync(file, "utf8"));
    expect(await tss("export", "--output", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("exists, and is not overwritten"),
    });
    expect(await tss("export", "--from-seal", "3")).toMatchObject({
      code: 1,
      stderr: "tss audit export: seal 3 does not exist; the newest one is 2\n",
    });
  },
  TIMEOUT_MS,
);

it(
  "verifies a file for people and for programs, and ends with exit code 1 at a fault",
  async () => {
    const good = await tss("verify", file);
    expect(good.stdout).toMatch(
      /^the export is intact: 2 seals, 7 entries\nnewest seal 2 of .*\n[0-9a-f]{64}\n$/,
    );
    expect(good.code).toBe(0);
    const newest = good.stdout.trim().split("\n").at(-1)!;
    const json = await tss("verify", file, "--json", "--expect-seal", newest);
    expect(JSON.parse(json.stdout)).toMatchObject({
      valid: true,
      seals: "2",
      entries: "7",
      faults: [],
      cut: false,
      newestSeal: { number: "2", lastSequence: "7", sealHash: newest, signed: false },
    });

    const lines = readFileSync(file, "utf8").split("\n");
    const bad = path.join(folder, "bad.ndjson");
    writeFileSync(bad, lines.toSpliced(3, 1).join("\n"));
    expect(await tss("verify", bad)).toEqual({
      stdout: "the export was changed after it was sealed: 2 seals, 6 entries\n  entry 2 is missing\n",
      stderr: "",
      code: 1,
    });
    const faults = JSON.parse((await tss("verify", bad, "--json")).stdout) as { faults: unknown[] };
    expect(faults.faults).toEqual([
      { kind: "missing", message: "entry 2 is missing", sequence: "2", lastSequence: "2" },
    ]);
    // As JSON has it, in the output of `tss audit seals --json`.
    const asJson = Buffer.from(newest, "hex").toString("base64");
    expect(await tss("verify", file, "--expect-seal", asJson)).toMatchObject({ code: 0 });
    const other = Buffer.alloc(32).toString("base64");
    expect(await tss("verify", file, "--expect-seal", other)).toMatchObject({ code: 1 });
    expect(await tss("verify", file, "--expect-seal", "0".repeat(64))).toMatchObject({ code: 1 });
    expect((await tss("verify", file, "--expect-seal", "abc")).stderr).toContain("takes 64 hex digits");
  },
  TIMEOUT_MS,
);
