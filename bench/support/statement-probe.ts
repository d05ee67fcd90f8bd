import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ROOT } from "../../test/support/repository/source-files.ts";

// Pools, transactions and Prisma all call a client's `query`.
const SCRIPT = `
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
if (isMainThread) {
  const { Client } = createRequire(${JSON.stringify(path.join(ROOT, "package.json"))})("pg");
  const { query } = Client.prototype;
  let count = 0;
  Client.prototype.query = function (...parameters) { count++; return query.apply(this, parameters); };
  process.on("message", (question) => { if (question === "statements") process.send({ statements: count }); });
  process.channel.unref();
}`;

/** Node arguments that make a forked process count its statements to PostgreSQL. */
export const STATEMENT_PROBE: readonly string[] = [
  "--import",
  `data:text/javascript,${encodeURIComponent(SCRIPT)}`,
];

/**
 * Returns how many statements a process with {@link STATEMENT_PROBE} has sent so far. Several statements sent at once
 * count as one.
 */
export async function statementsOf(child: ChildProcess): Promise<number> {
  const answer = once(child, "message") as Promise<[{ statements: number }]>;
  child.send("statements");
  return (await answer)[0].statements;
}
