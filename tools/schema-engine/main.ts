/**
 * Prisma's schema engine as the Prisma command line expects it: a program with the flags `--datasource` and
 * `--datamodels`, the sub-commands `cli can-connect-to-database` and `cli create-database`, and otherwise JSON-RPC, one
 * message per line, on standard input and output. The command line would download that program. This one is the same
 * engine from npm, as WebAssembly, so that migrations work with access to npm alone.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import { migrationAdapterFactory } from "./adapter.ts";
import { checkConnection, createDatabase } from "./database.ts";
import { loadEngine, type SchemaEngine } from "./load-engine.ts";

interface Request {
  readonly id: number;
  /** Absent in the command line's acknowledgements of `print`, which need no reply. */
  readonly method?: string;
  readonly params?: object;
}

const { values: flags, positionals } = parseArgs({
  options: {
    datamodels: { type: "string", multiple: true, default: [] },
    datasource: { type: "string", default: "{}" },
    version: { type: "boolean", default: false },
  },
  allowPositionals: true,
  strict: false,
});
const datasource = JSON.parse(String(flags.datasource)) as { url?: string };
/** Separates the ids of our own requests from those of the command line. */
const PRINT_ID_OFFSET = 1_000_000;
// Some commands need no database, but the engine requires an address, to which it never connects.
const url = datasource.url ?? "postgresql://127.0.0.1:1/none";

if (flags.version) {
  process.stdout.write(`schema-engine-cli ${(await loadEngine()).version()}\n`);
} else if (positionals[0] === "cli") {
  await runCommand(positionals[1] === "create-database" ? createDatabase : checkConnection);
} else {
  await serve();
}

async function runCommand(command: (url: string) => Promise<void>): Promise<void> {
  try {
    await command(url);
    log("INFO", { message: "done" });
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    // The command line skips the first line of a failure.
    process.stderr.write("\n");
    log("ERROR", { message: message || String(code), error_code: prismaCode(code) });
    process.exitCode = 1;
  }
}

/** Maps the error of Postgres or of the connection to Prisma's code. */
function prismaCode(code: string | undefined): string {
  switch (code) {
    case "28P01":
      return "P1000";
    case "3D000":
      return "P1003";
    case "42P04":
      return "P1009";
    default:
      return "P1001";
  }
}

async function serve(): Promise<void> {
  const adapterFactory = bindMigrationAwareSqlAdapterFactory(migrationAdapterFactory(url));
  const paths = (flags.datamodels as string[]).map((file) => path.resolve(file));
  const files = paths.map((file): [string, string] => [file, readFileSync(file, "utf8")]);
  const datamodels = files.length > 0 ? files : undefined;
  const { SchemaEngine } = await loadEngine();
  let engine: SchemaEngine | undefined;
  // One request at a time, in order of arrival: the engine is not re-entrant.
  for await (const line of createInterface({ input: process.stdin })) {
    const request: Request = line.trim() === "" ? undefined : JSON.parse(line);
    if (request?.method === undefined) continue;
    try {
      // Creating the engine connects to the database. A failure is the reply to the request that needed the engine.
      engine ??= await SchemaEngine.new({ datamodels }, () => {}, adapterFactory);
      send({ id: request.id, result: await call(engine, request.method, request) });
    } catch (error) {
      send({ id: request.id, error: describe(error, adapterFactory.errorRegistry) });
    }
  }
  process.exit(0);
}

async function call(engine: SchemaEngine, method: string, { id, params }: Request): Promise<object> {
  const run = engine[method === "getDatabaseVersion" ? "version" : method];
  if (run === undefined) throw new Error(`The schema engine has no method ${method}.`);
  const result = (await run.call(engine, params ?? {})) ?? {};
  // The native program prints a diff while it makes it; the WebAssembly engine returns it.
  if (method === "diff" && typeof result["stdout"] === "string") {
    const content = result["stdout"].replace(/\n$/, "");
    send({ id: PRINT_ID_OFFSET + id, method: "print", params: { content } });
  }
  return result;
}

type ErrorRegistry = ReturnType<typeof bindMigrationAwareSqlAdapterFactory>["errorRegistry"];

/**
 * Converts an error to the form that the command line reads. A driver's own error is kept by number, and is preferred.
 */
function describe(thrown: unknown, errors: ErrorRegistry): object {
  const error = thrown as { id?: number; code?: string; message?: string; meta?: unknown };
  const kept = error.id === undefined ? undefined : errors.consumeError(error.id)?.error;
  return {
    code: 4466,
    message: "An error happened. Check the data field for details.",
    data: {
      is_panic: false,
      message: (kept as Error | undefined)?.message ?? error.message ?? String(thrown),
      error_code: error.code,
      meta: error.meta ?? null,
    },
  };
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function log(level: "INFO" | "ERROR", fields: object): void {
  const line = { timestamp: new Date().toISOString(), level, fields, target: "schema_engine::logger" };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
