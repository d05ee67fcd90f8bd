import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { programMissing } from "../environment.ts";

/** Debian's pgbouncer before a PostgreSQL server, with one transaction per server connection. */
export interface Pgbouncer {
  /** The URL of the same database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts pgbouncer. Returns undefined if it is not installed; skip the suite with `describe.skipIf`, and the run reports
 * it at its end. In CI this throws instead.
 *
 * @param poolSize the number of server connections
 */
export async function startPgbouncer(databaseUrl: string, poolSize: number): Promise<Pgbouncer | undefined> {
  const server = new URL(databaseUrl);
  const folder = mkdtempSync(path.join(tmpdir(), "tss-pgbouncer-"));
  const port = await freePort();
  const file = path.join(folder, "pgbouncer.ini");
  const target = { host: server.hostname, port: server.port || "5432", user: server.username };
  const password = server.password === "" ? "" : ` password=${decodeURIComponent(server.password)}`;
  writeFileSync(
    file,
    `[databases]
* = ${Object.entries(target)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`,
    { mode: 0o644 },
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", [...user, file], { stdio: ["ignore", "ignore", "pipe"] });
  const remove = () => rmSync(folder, { recursive: true });
  let said = "";
  const isUp = await new Promise<boolean>((resolve, reject) => {
    child.once("error", (error) =>
      "code" in error && error.code === "ENOENT" ? resolve(false) : reject(error),
    );
    child.once("exit", () => reject(new Error(`pgbouncer ended: ${said}`)));
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("process up")) resolve(true);
    });
  });
  if (!isUp) {
    remove();
    programMissing("pgbouncer", "poolers of database connections");
    return undefined;
  }
  server.hostname = "127.0.0.1";
  server.port = String(port);
  return {
    url: server.href,
    async stop() {
      child.removeAllListeners("exit");
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      remove();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
