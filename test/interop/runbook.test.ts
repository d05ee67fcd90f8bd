/** Every command of the runbook, run as it stands, beside a service on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AppInProcess, startAppInProcess } from "../support/app-in-process.ts";
import { programMissing } from "../support/environment.ts";
import { testDatabase } from "../support/postgres.ts";
import { readSource } from "../support/source-files.ts";
import { runProgram } from "./run-program.ts";

const commands = [...readSource("docs/runbook.md").text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .flatMap(([, lines = ""]) => lines.split("\n"))
  .filter((line) => line !== "");
const postgres = await testDatabase();
const hasPsql = (await runProgram("psql", ["--version"]).catch(() => undefined))?.code === 0;
if (!hasPsql) programMissing("psql (Debian: postgresql-client)", "commands of the runbook");

describe.skipIf(postgres === undefined || !hasPsql)("the runbook's commands", () => {
  let app: AppInProcess | undefined;
  beforeAll(async () => {
    app = await startAppInProcess({ DATABASE_URL: postgres?.url ?? "" });
  });
  afterAll(async () => {
    await app?.stop();
    await postgres?.drop();
  });

  it("are some", () => {
    expect(commands.length).toBeGreaterThan(5);
  });

  it.each([...new Set(commands)])("%s", async (command) => {
    const environment = { ...app?.environment, SERVICE_URL: app?.url ?? "" };
    const { code, out, err } = await runProgram("bash", ["-c", command], "", environment);
    expect({ code, said: `${out.toString()}${err}` }).toMatchObject({ code: 0 });
  });
});
