import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

// The program is one bundle, so its copy of the driver is out of reach. Every copy writes each message of the protocol
// with one call of a socket's `write`.
const SCRIPT = `
import { Session } from "node:inspector";
import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
if (isMainThread) {
  const { write } = Socket.prototype;
  const connections = new WeakMap();
  const counts = new Map();
  const count = (text) => counts.set(text, (counts.get(text) ?? 0) + 1);
  const endOf = (message, start) => message.indexOf(0, start);
  const read = (socket, message) => {
    const known = connections.get(socket);
    if (known === undefined) {
      const isPostgres = message.length > 8 && message.readInt32BE(4) === 196608;
      connections.set(socket, isPostgres && { texts: new Map(), bound: "" });
    } else if (known) {
      const [type, end] = [String.fromCharCode(message[0]), endOf(message, 5)];
      if (type === "Q") count(message.toString("utf8", 5, end));
      if (type === "P") known.texts.set(message.toString("latin1", 5, end), message.toString("utf8", end + 1, endOf(message, end + 1)));
      if (type === "B") known.bound = message.toString("latin1", end + 1, endOf(message, end + 1));
      if (type === "E") count(known.texts.get(known.bound));
    }
  };
  Socket.prototype.write = function (...parameters) {
    if (Buffer.isBuffer(parameters[0])) read(this, parameters[0]);
    return write.apply(this, parameters);
  };
  let session;
  process.on("message", (question) => {
    if (question === "statements") process.send({ statements: [...counts] });
    if (question.profile === "start") {
      session = new Session();
      session.connect();
      session.post("Profiler.enable");
      session.post("Profiler.start", () => process.send({}));
    }
    if (question.profile === "stop")
      session.post("Profiler.stop", (_, { profile }) => {
        writeFileSync(question.file, JSON.stringify(profile));
        process.send({});
      });
  });
  process.channel.unref();
}`;

/** Node arguments for a forked process that {@link statementsOf} and {@link startProfile} ask. */
export const STATEMENT_PROBE: readonly string[] = [
  "--import",
  `data:text/javascript,${encodeURIComponent(SCRIPT)}`,
];

/** The number of executions of each statement, by its text. Several statements sent at once are one text. */
export type StatementCounts = ReadonlyMap<string, number>;

/** Returns which statements the main thread of a process with {@link STATEMENT_PROBE} has sent to PostgreSQL so far. */
export async function statementsOf(child: ChildProcess): Promise<StatementCounts> {
  const { statements } = await ask<{ statements: [string, number][] }>(child, "statements");
  return new Map(statements);
}

/** Starts a processor profile of the main thread. The returned function ends it and writes it into the file. */
export async function startProfile(child: ChildProcess, file: string): Promise<() => Promise<void>> {
  await ask(child, { profile: "start" });
  return async () => {
    await ask(child, { profile: "stop", file });
  };
}

async function ask<Answer>(child: ChildProcess, question: string | object): Promise<Answer> {
  const answer = once(child, "message") as Promise<[Answer]>;
  child.send(question);
  return (await answer)[0];
}
