import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { programMissing } from "../environment.ts";
import { pollUntil } from "../poll-until.ts";
import { openTestClient } from "./test-pool.ts";

/** A PostgreSQL of its own with a synchronous standby, behind an address that a failover moves. */
export interface StandbyPair {
  /** The URL of the database at the address that clients use. It leads to the primary. */
  readonly url: string;
  /** Stops the standby from receiving, until the failover. */
  pauseStandby(): void;
  /** Whether a statement with this text has been committed and waits for the standby. */
  isWaiting(text: string): Promise<boolean>;
  /** Kills every process of the primary at once, as a lost machine does. */
  killPrimary(): void;
  /** Makes the standby the primary, and then moves the address to it. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts both servers. Commits wait until the standby has applied them. Returns undefined if PostgreSQL's programs are
 * not installed; skip the suite with `describe.skipIf`, and the run reports it at its end. In CI this throws instead.
 */
export async function startStandbyPair(): Promise<StandbyPair | undefined> {
  const programs = programFolder();
  if (programs === undefined) {
    programMissing("PostgreSQL's initdb", "the failover to a standby");
    return undefined;
  }
  const folder = mkdtempSync(path.join(tmpdir(), "tss-standby-"));
  const user = serverUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(path.join(programs, program), args, { ...user, env: { PGUSER: "postgres" } });
  const data = { primary: path.join(folder, "primary"), standby: path.join(folder, "standby") };
  const ports = { primary: await freePort(), standby: await freePort() };
  const start = async (name: "primary" | "standby") => {
    const args = ["-D", data[name], "-p", String(ports[name])];
    const child = spawn(path.join(programs, "postgres"), args, { ...user, stdio: "ignore" });
    const isUp = () => run("pg_isready", "-q", "-h", "127.0.0.1", "-p", String(ports[name])).then(() => true);
    await pollUntil(() => isUp().catch(() => false));
    return child;
  };
  const statement = async (text: string, ...values: string[]) => {
    const client = await openTestClient({ connectionString: urlAt(ports.primary) });
    try {
      return (await client.query(text, values)).rowCount;
    } finally {
      await client.end();
    }
  };

  await run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "--pgdata", data.primary);
  // A killed process loses nothing that it wrote: only the machine's own crash needs fsync.
  appendFileSync(
    path.join(data.primary, "postgresql.conf"),
    `listen_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nfsync = off\nshared_buffers = 16MB\ntrack_activity_query_size = 16kB\n`,
  );
  const primary = await start("primary");
  const source = ["-h", "127.0.0.1", "-p", String(ports.primary)];
  await run("pg_basebackup", ...source, "-D", data.standby, "-R", "-c", "fast", "--no-sync");
  const standby = await start("standby");
  // After the copy: the standby must not wait for a standby of its own once it is the primary.
  await statement("ALTER SYSTEM SET synchronous_commit = 'remote_apply'");
  await statement("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await statement("SELECT pg_reload_conf()");
  await pollUntil(() => statement("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"));
  const address = await startAddress(ports.primary);
  const receivers = childrenOf(standby).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("walreceiver"),
  );

  return {
    url: urlAt(address.port),
    pauseStandby() {
      for (const pid of receivers) signal(pid, "SIGSTOP");
    },
    async isWaiting(text) {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE $1";
      return (await statement(waiting, `%${text}%`)) !== 0;
    },
    killPrimary() {
      for (const pid of [primary.pid!, ...childrenOf(primary)]) signal(pid, "SIGKILL");
    },
    async failOver() {
      // It reads what the primary had sent, and ends because the connection has.
      for (const pid of receivers) signal(pid, "SIGCONT");
      await pollUntil(() => receivers.every((pid) => !existsSync(`/proc/${pid}`)));
      await run("pg_ctl", "promote", "--wait", "-D", data.standby);
      address.moveTo(ports.standby);
    },
    async stop() {
      await address.close();
      for (const child of [primary, standby]) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const ended = once(child, "exit");
        child.kill("SIGQUIT");
        await ended;
      }
      rmSync(folder, { recursive: true });
    },
  };
}

function programFolder(): string | undefined {
  const root = "/usr/lib/postgresql";
  const folders = existsSync(root) ? readdirSync(root).map((name) => path.join(root, name, "bin")) : [];
  return folders.find((folder) => existsSync(path.join(folder, "initdb")));
}

/** PostgreSQL refuses to run as root, and Debian has a user for it. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error("there is no user postgres");
  return { uid: Number(uid), gid: Number(gid) };
}

function childrenOf({ pid }: ChildProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

const urlAt = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`;

/** Forwards connections to a port of this machine. A move ends those to the old one. */
async function startAddress(target: number) {
  const sockets = new Set<Socket>();
  let port = target;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(next: number) {
      port = next;
      cut();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
