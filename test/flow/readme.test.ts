/** Follows the README to the letter, like a newcomer: its commands and programs, in a copy of the checkout. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../interop/run-program.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { compiledProgram, programEnvironment, programMissing } from "../support/environment.ts";
import { copyCheckout } from "../support/repository/copy-checkout.ts";
import { installClient } from "../support/repository/install-client.ts";
import { ROOT, readSource } from "../support/repository/source-files.ts";

const README = readSource("README.md").text;
/** Commands that this test does not run, with the place where they run or the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "npm ci && npm run demo": "test/flow/demo.test.ts; .ci/run begins with npm ci",
};
/** The first program's output: a line for the shell, and the signature. */
const PRINTED = /^export DWALLET_ID=0x[0-9a-f]{64} SIGN_REQUEST_ID=[0-9a-f-]{36}\n[0-9a-f]{130}\n$/;
/** Free ports, and only what the README's programs use: ECDSA presigns, and no parameters for other clients. */
const SETTINGS = {
  ...{ PORT: "0", LOCALNET_PORT: "0" },
  ...{ PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1", PROTOCOL_PARAMETERS: "off" },
} as const;
const BRIEF = { NODE_OPTIONS: `--import ${path.join(ROOT, "test/support/service/brief-v8.mjs")}` } as const;
/** Ends only a program that hangs, however slow the machine is. */
const PATIENT = { timeoutMs: 300_000 };
const python = await pythonWithCodeGenerators();

describe("the README", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "readme-"));
  const migrated = migratedFolder();
  let service: ChildProcess;
  let url = "http://127.0.0.1:3000";
  /** The line of the first program that sets the ids. */
  let exported = "";

  beforeAll(async () => {
    copyCheckout(folder);
    // What npm ci builds last, from the same sources.
    cpSync(compiledProgram.folder()!, path.join(folder, "dist"), { recursive: true });
    // The demo's command begins with an empty folder.
    cpSync((await migrated).folder, path.join(folder, ".data"), { recursive: true });
    ({ service, url } = await startService());
  });
  afterAll(async () => {
    if (service?.exitCode === null) await stop(service, "SIGTERM");
    rmSync(folder, { recursive: true });
    (await migrated).remove();
  });

  it("has a first program that runs unchanged and prints a signature", async () => {
    writeFileSync(path.join(folder, "hello.ts"), firstProgram());
    expect(README).toContain("`npx tsx hello.ts`");
    const printed = await succeeds("npx tsx hello.ts");
    expect(printed).toMatch(PRINTED);
    [exported = ""] = printed.split("\n");
  });

  it("has a first program that also runs where the client's package alone is installed", async () => {
    const empty = mkdtempSync(path.join(tmpdir(), "readme-client-"));
    try {
      installClient(empty);
      cpSync(path.join(folder, ".data/dev.json"), path.join(empty, ".data/dev.json"));
      const program = firstProgram().replace("threshold-signing-service/sdk", "threshold-signing-client");
      writeFileSync(path.join(empty, "hello.mjs"), program);
      const { code, out, err } = await runProgram(process.execPath, ["hello.mjs"], "", BRIEF, {
        ...PATIENT,
        folder: empty,
      });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out.toString()).toMatch(PRINTED);
    } finally {
      rmSync(empty, { recursive: true });
    }
  });

  it("has REST commands that get a successful reply", async () => {
    const [exportsKey = ""] = shellLines("export API_KEY=");
    const commands = shellLines("curl ");
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) {
      const quiet = command.replace("curl ", "curl --fail --silent ");
      const reply = await succeeds(`${exported} && ${exportsKey} && ${quiet}`);
      expect(reply, command).toContain("{");
    }
  });

  it.skipIf(python === undefined)(
    "has commands that generate a client for Python, and a program that uses it",
    async () => {
      const [generate = ""] = shellLines("npx buf generate");
      expect(generate).not.toBe("");
      await succeeds("npx buf build");
      await succeeds(generate);
      const [, program = ""] = /`network\.py`:\n\n```python\n([\s\S]*?)^```$/m.exec(README) ?? [];
      const file = path.join(folder, "client/python/network.py");
      writeFileSync(file, atService(program));
      expect(await succeeds(`${python} ${file}`)).toMatch(/^0x[0-9a-f]{64}\n$/);
    },
  );

  it("has no command that these tests omit", () => {
    const tried = ["npm start", "export API_KEY=", "curl ", "npx buf generate"];
    const untried = shellLines("").filter((line) => !tried.some((start) => line.startsWith(start)));
    expect(untried).toEqual(Object.keys(NOT_RUN));
  });

  describe("`npm start`", () => {
    it("stops the service and leaves nothing behind when only npm gets SIGTERM", async () => {
      expect(await stop(service, "SIGTERM")).toBe(0);
      await expect(fetch(`${url}/v1/health`)).rejects.toThrow();
    });

    it("stops in the same way when the terminal sends Ctrl-C to all its processes", async () => {
      const again = await startService();
      expect(await stop(again.service, "SIGINT", -again.service.pid!)).toBe(0);
      await expect(fetch(`${again.url}/v1/health`)).rejects.toThrow();
    });
  });

  function firstProgram(): string {
    const [, program = ""] = /^Save this as `hello\.ts`[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(README) ?? [];
    expect(program).toContain("client.onboard");
    return program;
  }

  /** The lines of the README's shell blocks that begin with a text. */
  function shellLines(start: string): string[] {
    return [...README.matchAll(/^```bash\n([\s\S]*?)^```$/gm)]
      .flatMap(([, block = ""]) => block.trim().split("\n"))
      .filter((line) => line.startsWith(start));
  }

  function atService(text: string): string {
    return text.replaceAll("http://127.0.0.1:3000", url).replaceAll("127.0.0.1:3000", new URL(url).host);
  }

  /** Runs a line of shell in the copy and returns its output. Throws with the error output if it fails. */
  async function succeeds(line: string): Promise<string> {
    const options = { ...PATIENT, folder };
    const { code, out, err } = await runProgram("sh", ["-c", atService(line)], "", BRIEF, options);
    expect({ line, code, err: code === 0 ? "" : err }).toEqual({ line, code: 0, err: "" });
    return out.toString();
  }

  /** Runs `npm start` in its own process group, on free ports. */
  async function startService(): Promise<{ service: ChildProcess; url: string }> {
    const child = spawn("npm", ["start"], {
      cwd: folder,
      detached: true,
      env: { ...programEnvironment, ...SETTINGS, ...BRIEF },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout! });
    const exited = once(child, "exit").then(() => Promise.reject(new Error("npm start ended")));
    exited.catch(() => {});
    const ready = new Promise<string>((resolve) => {
      lines.on("line", (line) => {
        const [, found] = /^ready at (\S+)$/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    return { service: child, url: await Promise.race([ready, exited]) };
  }
});

/** Sends a signal to a process, or to a process group by its negated id, and returns the exit code of the process. */
async function stop(
  child: ChildProcess,
  signal: NodeJS.Signals,
  target = child.pid!,
): Promise<number | null> {
  const exited = once(child, "exit") as Promise<[number | null]>;
  process.kill(target, signal);
  return (await exited)[0];
}

/** A Python with grpc, if protoc and gRPC's plugin are also installed. */
async function pythonWithCodeGenerators(): Promise<string | undefined> {
  const runs = async (program: string, argv: readonly string[]) =>
    (await runProgram(program, argv).catch(() => undefined))?.code === 0;
  const generators = (await runs("protoc", ["--version"])) && (await runs("which", ["grpc_python_plugin"]));
  for (const program of generators ? ["/usr/bin/python3", "python3"] : []) {
    if (await runs(program, ["-c", "import grpc, google.protobuf"])) return program;
  }
  programMissing("protoc, grpc_python_plugin and Python with grpc", "the README's Python client");
  return undefined;
}
