/**
 * Runs commands of the built `tss` one after another in one process, because the start of a process takes longer than
 * most commands. It serves HTTP on a Unix socket. The body of a request is a folder with the files `cwd`, `argv` and
 * `env`, whose values end with NUL. It writes the files `out`, `err` and `code` there, and replies.
 * Started with the folder of the built package and the socket's path.
 */
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [built = "", socket = ""] = process.argv.slice(2);
const program = path.join(built, "src/cli/main.js");
// A module runs again if its URL is new. The modules that it imports stay loaded.
const main = pathToFileURL(path.join(built, "program/main.js")).href;
// Each run listens for errors of its output.
process.stdout.setMaxListeners(0);

let last = Promise.resolve();
let runs = 0;
const server = http.createServer((request, reply) => {
  last = last.then(async () => {
    await run(await text(request));
    reply.end();
  });
});
server.listen(socket, () => process.send?.("ready"));
process.once("disconnect", () => process.exit());

async function run(folder) {
  const valuesOf = (name) => readFileSync(path.join(folder, name), "utf8").split("\0").slice(0, -1);
  const [out, err] = [capture(process.stdout), capture(process.stderr)];
  process.chdir(valuesOf("cwd")[0]);
  process.argv = [process.execPath, program, ...valuesOf("argv")];
  process.env = Object.fromEntries(valuesOf("env").map((each) => each.split(/=(.*)/s, 2)));
  process.exitCode = 0;
  runs += 1;
  try {
    await import(`${main}?run=${runs}`);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${error.stack}\n`);
  }
  writeFileSync(path.join(folder, "code"), String(process.exitCode));
  process.exitCode = 0;
  writeFileSync(path.join(folder, "out"), out.end());
  writeFileSync(path.join(folder, "err"), err.end());
}

/** Keeps what is written to a stream, until it ends and returns it. */
function capture(stream) {
  const chunks = [];
  const { write } = stream;
  stream.write = (chunk, encoding, done) => {
    chunks.push(Buffer.from(chunk));
    const callback = typeof encoding === "function" ? encoding : done;
    if (callback) process.nextTick(callback);
    return true;
  };
  return {
    end() {
      stream.write = write;
      return Buffer.concat(chunks);
    },
  };
}
