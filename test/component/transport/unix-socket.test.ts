import { execFile } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../../gen/proto/grpc/health/v1/health_pb.ts";
import { createErrorMapping } from "../../../src/service/platform/errors/error-mapping.ts";
import { startServer, type TransportServer } from "../../../src/transport/start-server.ts";

let folder: string;
let file: string;
let server: TransportServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-socket-"));
  file = path.join(folder, "server.sock");
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

/** The user and group of nobody. */
const OTHER_ID = 65_534;

const start = () =>
  startServer({
    host: "localhost",
    port: 0,
    socketPath: file,
    services: [],
    errors: createErrorMapping(() => {}),
    limits: { connectionsPerAddressCount: 4 },
    routes: [{ path: "/plain", handle: () => ({ status: 200, headers: {}, body: "plain" }) }],
  });

describe("a server on a Unix socket", () => {
  it("serves gRPC, Connect and plain routes", async () => {
    server = await start();
    expect(server).toMatchObject({ url: `unix:${file}`, port: 0 });
    const baseUrl = "http://localhost";
    const transports = [
      createGrpcTransport({ baseUrl, nodeOptions: { createConnection: () => connect(file) } }),
      createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { socketPath: file } }),
    ];
    for (const transport of transports)
      expect(await createClient(Health, transport).check({})).toMatchObject({ status: 1 });
    const [reply] = await once(get({ socketPath: file, path: "/plain" }), "response");
    expect(await text(reply)).toBe("plain");
    const core = new Client(`unix:${file}`, credentials.createInsecure());
    await new Promise<void>((resolve, reject) => {
      core.waitForReady(Date.now() + 30_000, (error) => (error ? reject(error) : resolve()));
    });
    core.close();
  });

  it("lets only its own user connect, and leaves nothing beside the socket", async () => {
    server = await start();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["server.sock"]);
    await server.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "refuses a process of another user that reaches its folder",
    async () => {
      server = await start();
      chmodSync(folder, 0o755);
      const program = `
      const socket = require("node:net").connect(process.argv[1]);
      socket.on("connect", () => { console.log("connected"); socket.destroy(); });
      socket.on("error", ({ code }) => console.log(code));`;
      const options = { uid: OTHER_ID, gid: OTHER_ID, cwd: "/", env: {} };
      const outcome = (argv: string[]) =>
        promisify(execFile)(process.execPath, ["-e", program, ...argv], options);
      expect((await outcome([file])).stdout).toBe("EACCES\n");
      chmodSync(file, 0o666);
      expect((await outcome([file])).stdout).toBe("connected\n");
    },
  );

  it("bounds its connections, which count as those of one address", async () => {
    server = await start();
    const sockets = Array.from({ length: 4 }, () => connect(file));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const refused = connect(file);
    await once(refused.resume(), "close");
    for (const socket of sockets) {
      expect(socket.destroyed).toBe(false);
      socket.destroy();
    }
  });

  it("takes over the socket of a process that has died", async () => {
    const dead = createServer();
    await once(dead.listen(file), "listening");
    // The name of the socket stays, as after SIGKILL.
    const kept = `${file}.kept`;
    linkSync(file, kept);
    await new Promise((resolve) => dead.close(resolve));
    linkSync(kept, file);
    rmSync(kept);
    server = await start();
    expect((await once(get({ socketPath: file, path: "/plain" }), "response"))[0].statusCode).toBe(200);
  });

  it("refuses the socket of a living process, and a file of another kind", async () => {
    const living = createServer((socket) => socket.destroy());
    await once(living.listen(file), "listening");
    await expect(start()).rejects.toThrow(`another process listens on ${file}`);
    await new Promise((resolve) => living.close(resolve));
    writeFileSync(file, "notes");
    await expect(start()).rejects.toThrow("is not a socket, and is not overwritten");
    expect(existsSync(file)).toBe(true);
  });
});
