/**
 * The programs in other languages that sign through a signer, each generated, compiled and run unchanged, as its README
 * says. All use one service, one signer and one key.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, LedgerEntryKind, type TssClient } from "../../src/client/sdk/index.ts";
import { runProgram } from "../interop/run-program.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { environment, optionalProgramMissing, programMissing } from "../support/environment.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";
import {
  SIGNER_TOKEN,
  type SignerFolder,
  type SignerProcess,
  signerFolder,
  startSignerProcess,
} from "../support/signer/signer-process.ts";

const PATIENT = { timeoutMs: 300_000 };
const JARS = "/usr/share/java/*";
/** A virtual machine that ends before it earns back what its optimizing compiler spends. */
const BRIEF = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
const JAVAC = BRIEF.map((flag) => `-J${flag}`);
/** Debian's Go packages. The first folder has a newer protobuf than the one that its gRPC depends on. */
const GO_PATHS = ["/usr/local/share/gocode", "/usr/share/gocode"];
const CRATES = ["crates-io.replace-with='debian'", "debian.directory='/usr/share/cargo/registry'"];

interface Program {
  readonly name: string;
  /** Programs that end with 0 if everything that the example needs is installed. */
  readonly needs: readonly (readonly [string, ...string[]])[];
  /** Whether the tools are too large to install them for every run. Such an example runs at night. */
  readonly isLarge?: boolean;
  readonly message: string;
  /** Generates and compiles in the folder `work`. Returns the command, and variables other than the signer's. */
  prepare(work: string): Promise<{ readonly command: readonly string[]; readonly variables?: object }>;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "python-signer/main.py",
    needs: [["/usr/bin/python3", "--version"]],
    message: "pay 5 to alice",
    prepare: async () => ({ command: ["/usr/bin/python3", example("python-signer/main.py")] }),
  },
  {
    name: "python-signer/over_port.py",
    needs: [
      ["/usr/bin/python3", "--version"],
      ["openssl", "version"],
    ],
    message: "pay 5 to grace",
    prepare: async () => ({ command: ["/usr/bin/python3", example("python-signer/over_port.py")] }),
  },
  {
    name: "python-signer/with_grpc.py",
    needs: [
      ["/usr/bin/python3", "-c", "import grpc, google.protobuf, cryptography"],
      ["which", "protoc"],
      ["which", "grpc_python_plugin"],
    ],
    message: "pay 5 to bob",
    async prepare(work) {
      await generate("python", work);
      return {
        command: ["/usr/bin/python3", example("python-signer/with_grpc.py")],
        variables: { PYTHONPATH: path.join(work, "client/python") },
      };
    },
  },
  {
    name: "java-signer/Main.java",
    needs: [
      ["javac", "-version"],
      ["which", "protoc"],
      ["which", "grpc_java_plugin"],
      ...["grpc-netty", "grpc-protobuf", "netty-all", "perfmark-api", "guava", "protobuf"].map(
        (jar): [string, string] => ["ls", `/usr/share/java/${jar}.jar`],
      ),
    ],
    message: "pay 5 to dave",
    async prepare(work) {
      await generate("java", work);
      const [sources, classes] = [path.join(work, "client/java"), path.join(work, "classes")];
      const flags = ["-d", classes, "-cp", JARS, "-sourcepath", sources];
      await run("javac", [...JAVAC, ...flags, example("java-signer/Main.java")]);
      return { command: ["java", ...BRIEF, "-cp", `${classes}:${JARS}`, "Main"] };
    },
  },
  {
    name: "go-signer/main.go",
    needs: [
      ["go", "version"],
      ["which", "protoc-gen-go"],
      ["which", "protoc-gen-go-grpc"],
      ["ls", "/usr/local/share/gocode/src/github.com/golang/protobuf"],
      ["ls", "/usr/share/gocode/src/google.golang.org/grpc"],
    ],
    message: "pay 5 to carol",
    async prepare(work) {
      const program = path.join(work, "go-signer");
      await generate("go", work);
      mkdirSync(path.join(work, "gopath/src"), { recursive: true });
      symlinkSync(path.join(work, "client/go"), path.join(work, "gopath/src/tssclient"));
      const variables = {
        GO111MODULE: "off",
        GOPATH: [path.join(work, "gopath"), ...GO_PATHS].join(":"),
        GOCACHE: path.join(work, "cache"),
      };
      await run("go", ["build", "-o", program, example("go-signer/main.go")], variables);
      return { command: [program] };
    },
  },
  {
    name: "rust-signer/src/main.rs",
    needs: [
      ["cargo", "--version"],
      ["which", "protoc"],
      ["ls", "/usr/share/cargo/registry/prost-build-0.11.6", "/usr/share/cargo/registry/ureq-2.6.2"],
    ],
    isLarge: true,
    message: "pay 5 to erin",
    async prepare(work) {
      // Cargo writes its lock file beside the manifest, and the build script reads the contract two folders above.
      for (const folder of ["proto", "third_party"])
        symlinkSync(path.join(ROOT, folder), path.join(work, folder));
      const folder = path.join(work, "examples/rust-signer");
      mkdirSync(path.join(folder, "src"), { recursive: true });
      for (const file of ["Cargo.toml", "build.rs", "src/main.rs"])
        copyFileSync(example(`rust-signer/${file}`), path.join(folder, file));
      const sources = CRATES.flatMap((setting) => ["--config", `source.${setting}`]);
      const manifest = path.join(folder, "Cargo.toml");
      await run("cargo", ["build", "--offline", "--quiet", ...sources, "--manifest-path", manifest]);
      return { command: [path.join(folder, "target/debug/rust-signer")] };
    },
  },
];

let service: SharedService;
let client: TssClient;
let files: SignerFolder;
let signer: SignerProcess;

beforeAll(async () => {
  service = await sharedService();
  const { baseUrl, apiKey, network } = service.access;
  client = createClient({ baseUrl, apiKey, network });
  files = await signerFolder();
  signer = await startSignerProcess(files.environment(service.access));
});
afterAll(async () => {
  await signer?.stop();
  files?.remove();
});

describe.each(PROGRAMS)("the example $name", async ({ name, needs, isLarge = false, message, prepare }) => {
  const missing = await firstMissing(needs);
  const isLeftOut = isLarge && environment.isCi && !environment.isReference;
  const reason = isLeftOut ? "it runs at night" : missing && `no ${missing}`;
  if (missing !== undefined && !isLeftOut) sayMissing(missing, name);

  it.skipIf(reason !== undefined)(
    `prints a key, a signature and an error, and again the same for no charge${reason ? ` (skipped: ${reason})` : ""}`,
    async () => {
      const work = mkdtempSync(path.join(tmpdir(), "language-"));
      try {
        const { command, variables } = await prepare(work);
        const before = await signCharges();
        const [program = "", ...argv] = command;
        const printed = [];
        for (let time = 0; time < 2; time++) printed.push(await run(program, argv, variables));
        expect(printed[1]).toBe(printed[0]);
        expect((await signCharges()) - before).toBe(1);
        const [, keyHex = ""] = /^key ([0-9a-f]{64})$/m.exec(printed[0]!) ?? [];
        const [, hex = ""] = /^signature ([0-9a-f]{128})$/m.exec(printed[0]!) ?? [];
        const signed = {
          publicKey: Buffer.from(keyHex, "hex"),
          message: new TextEncoder().encode(message),
          signature: Buffer.from(hex, "hex"),
        };
        expect(isValidSignature({ signatureAlgorithm: "EdDSA", hash: "SHA512", ...signed })).toBe(true);
        if (name !== "python-signer/main.py")
          expect(printed[0]).toMatch(/^verified true\nerror KEY_NOT_FOUND$/m);
      } finally {
        // Go makes the folders of its cache read-only.
        await run("chmod", ["-R", "u+w", work]);
        rmSync(work, { recursive: true });
      }
    },
  );
});

it("a REST client that another tool generates from /openapi.json signs, and gets errors", async () => {
  const served = await (await fetch(`${signer.url}/openapi.json`)).text();
  expect(served).toBe(readFileSync(path.join(ROOT, "gen/signer-openapi.json"), "utf8"));
  const folder = mkdtempSync(path.join(tmpdir(), "language-"));
  try {
    writeFileSync(path.join(folder, "openapi.json"), served);
    const input = path.join(folder, "openapi.json");
    await generateApi({ input, output: folder, fileName: "client.ts", silent: true });
    const { Api } = (await import(path.join(folder, "client.ts"))) as {
      Api: new (options: object) => RestClient;
    };
    const { v1 } = new Api({
      baseUrl: signer.url,
      baseApiParams: { headers: { authorization: `Bearer ${SIGNER_TOKEN}` } },
    });
    const { data: key } = await v1.createKey({ name: "payouts", curve: "ED25519" });
    const message = Buffer.from("pay 5 to frank");
    const raw = { message: message.toString("base64"), signatureAlgorithm: "EdDSA", hashScheme: "SHA512" };
    const { data } = await v1.sign("payouts", { raw, idempotencyKey: "payment-6" });
    const [publicKey, signature] = [key["publicKey"], data["signature"]].map((text) =>
      Buffer.from(text!, "base64"),
    );
    const signed = { publicKey: publicKey!, message, signature: signature! };
    expect(isValidSignature({ signatureAlgorithm: "EdDSA", hash: "SHA512", ...signed })).toBe(true);
    const error = { details: [{ reason: "KEY_NOT_FOUND" }] };
    await expect(v1.sign("unknown", { raw })).rejects.toMatchObject({ status: 404, error });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The part of the generated client that is used. */
interface RestClient {
  readonly v1: {
    createKey(body: object): Promise<{ readonly data: Record<string, string> }>;
    sign(name: string, body: object): Promise<{ readonly data: Record<string, string> }>;
  };
}

function example(file: string): string {
  return path.join(ROOT, "examples", file);
}

/** Generates a client as the READMEs say, but into another folder. */
async function generate(language: string, work: string): Promise<void> {
  const template = path.join(ROOT, `buf.gen.${language}.yaml`);
  const argv = ["generate", "--template", template, "-o", work];
  await run(path.join(ROOT, "node_modules/.bin/buf"), argv);
}

/** Runs a program in the checkout, which must end with 0, and returns what it prints. */
async function run(program: string, argv: readonly string[], variables: object = {}): Promise<string> {
  const settings = {
    SIGNER_SOCKET: files.socket,
    SIGNER_URL: signer.url,
    SIGNER_ADDRESS: new URL(signer.url).host,
    SIGNER_TOKEN_FILE: path.join(files.folder, "secrets/token"),
    ...variables,
  };
  const { code, out, err } = await runProgram(program, argv, "", settings, { ...PATIENT, folder: ROOT });
  expect({ program, code, err: code === 0 ? "" : err }).toEqual({ program, code: 0, err: "" });
  return out.toString();
}

async function firstMissing(needs: Program["needs"]): Promise<string | undefined> {
  for (const [program, ...argv] of needs) {
    const ended = await runProgram(program, argv).catch(() => undefined);
    if (ended?.code !== 0) return [program, ...argv].join(" ");
  }
  return undefined;
}

/** In CI, only a machine without a JDK may leave out Java. */
function sayMissing(missing: string, name: string): void {
  const say = missing.startsWith("javac") ? optionalProgramMissing : programMissing;
  say(missing, `the example ${name}`);
}

async function signCharges(): Promise<number> {
  let count = 0;
  for await (const { kind } of client.listLedgerEntries())
    if ((kind as unknown) === LedgerEntryKind.sign) count++;
  return count;
}
