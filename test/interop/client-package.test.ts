/** The client's package in a folder where nothing else is installed. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { atNight, environment } from "../support/environment.ts";
import { type InstalledClient, installClient } from "../support/repository/install-client.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { bundlePage } from "./loaded-size.ts";
import { runProgram } from "./run-program.ts";

const PACKAGES_MAX = 17;
const MEGABYTES_MAX = 16;
/** The libraries of the signers, and React. */
const LIBRARIES = ["viem", "ethers", "@solana/kit", "@scure/btc-signer", "@mysten/sui", "react"];
/** Packages that only a server needs. */
const SERVER_PACKAGES =
  /^(@prisma\/|@electric-sql\/|@ika\.xyz\/|@mysten\/sui$|typescript$|ioredis$|pg$|pino$|prom-client$|@connectrpc\/connect-node$)/;

/** How a program resolves types, its file, and the compiler's options. */
type TypeResolver = [string, "sample.ts" | "sample.cts", Readonly<Record<string, string>>];

const WALLET = { words: `${"abandon ".repeat(11)}about`, path: "m/0", curve: "SECP256K1" };

describe("the client's package", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "client-package-"));
  let installed: InstalledClient;
  beforeAll(() => {
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    installed = installClient(folder);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it("contains no server, and installs few and small packages", () => {
    const { packages } = installed;
    expect(packages.filter((name) => SERVER_PACKAGES.test(name))).toEqual([]);
    expect(packages.length).toBeLessThanOrEqual(PACKAGES_MAX);
    const bytes = sizeOf(path.join(folder, "node_modules"));
    expect(bytes / 1e6).toBeLessThanOrEqual(MEGABYTES_MAX);
  });

  it("contains no file of the server, and has its licence and guide", () => {
    const { tarball } = installed;
    const files = execFileSync("tar", ["-tzf", tarball]).toString().trim().split("\n");
    const rooms = new Set(
      files.map((file) => /^package\/dist\/src\/(client\/[^/]+|[^/]+)\//.exec(file)?.[1]),
    );
    rooms.delete(undefined);
    expect([...rooms].sort()).toEqual([
      ...[
        "client/crypto",
        "client/keys",
        "client/react",
        "client/sdk",
        "client/seed",
        "client/signers",
        "protocol",
      ],
    ]);
    expect(files).toEqual(
      expect.arrayContaining(["package/LICENSE", "package/README.md", "package/docs/sdk.md"]),
    );
  });

  it("has the libraries of its signers and React as optional peers", () => {
    const manifest = JSON.parse(
      readFileSync(path.join(folder, "node_modules/threshold-signing-client/package.json"), "utf8"),
    );
    expect(Object.keys(manifest.peerDependencies)).toEqual(expect.arrayContaining(LIBRARIES));
    for (const name of LIBRARIES) {
      expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
      expect(manifest.dependencies[name]).toBeUndefined();
      expect(installed.packages).not.toContain(name);
    }
  });

  it("contains the modules of Sui's SDK that it uses, with their licence, and imports it in the entry of its users alone", () => {
    const dist = path.join(folder, "node_modules/threshold-signing-client/dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" });
    const importing = files.filter(
      (name) =>
        /\.(?:m?js|d\.m?ts)$/.test(name) &&
        /(?:from|import\()\s*"@mysten\/sui/.test(readFileSync(path.join(dist, name), "utf8")),
    );
    expect(importing.sort()).toEqual([
      ...[
        "cjs/src/client/signers/sui/dwallet-sui-signer.d.ts",
        "src/client/signers/sui/dwallet-sui-signer.d.ts",
      ],
      "src/client/signers/sui/dwallet-sui-signer.js",
    ]);
    expect(readFileSync(path.join(dist, "embedded/sui/LICENSE"), "utf8")).toContain("Apache License");
  });

  // The package managers come from the registry.
  it.runIf(environment.isReference).each([
    ["npm", "npm@11.19.1", "npm install --no-audit --no-fund"],
    ["yarn 1", "yarn@1.22.22", "yarn add --non-interactive"],
    ["pnpm", "pnpm@10.34.8", "pnpm add"],
  ])("installs with %s without a warning", async (_, manager, command) => {
    const project = mkdtempSync(path.join(tmpdir(), "client-install-"));
    try {
      writeFileSync(
        path.join(project, "package.json"),
        '{ "name": "project", "version": "1.0.0", "license": "MIT", "private": true }',
      );
      const { code, out, err } = await runProgram(
        "npx",
        ["--yes", "--package", manager, "--", ...command.split(" "), installed.tarball],
        "",
        {},
        { folder: project, timeoutMs: 300_000 },
      );
      expect({ code, said: `${out}${err}` }).toEqual({
        code: 0,
        said: expect.not.stringMatching(/warn|error/i),
      });
      expect(readdirSync(path.join(project, "node_modules/threshold-signing-client"))).toContain("dist");
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  it("starts in Node with its own dependencies, and exports the same as the service's entry", async () => {
    writeFileSync(
      path.join(folder, "start.js"),
      'import * as client from "threshold-signing-client";\nconsole.log(Object.keys(client).sort().join());\n',
    );
    const { code, out, err } = await runProgram(process.execPath, ["start.js"], "", {}, { folder });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const entry = await import("../../src/client/sdk/index.ts");
    expect(out.toString().trim()).toBe(Object.keys(entry).sort().join());
  });

  it("has the service's operator entry, with the same error class", async () => {
    writeFileSync(
      path.join(folder, "admin.js"),
      'import * as admin from "threshold-signing-client/admin";\nimport { TssError } from "threshold-signing-client";\n' +
        "console.log(Object.keys(admin).sort().join(), admin.TssError === TssError);\n",
    );
    const { code, out, err } = await runProgram(process.execPath, ["admin.js"], "", {}, { folder });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const entry = await import("../../src/client/sdk/admin/index.ts");
    expect(out.toString().trim()).toBe(`${Object.keys(entry).sort().join()} true`);
  });

  it.each(["import", "require"])(
    "has the entries of seeds and keys, which any platform loads with %s, with the same error class",
    async (kind) => {
      const load = (name: string) =>
        kind === "import" ? `await import(${JSON.stringify(name)})` : `require(${JSON.stringify(name)})`;
      const program = [
        `const { TssError } = ${load("threshold-signing-client")};`,
        `const passkey = ${load("threshold-signing-client/passkey")};`,
        `const words = ${load("threshold-signing-client/words")};`,
        `const keys = ${load("threshold-signing-client/keys")};`,
        "console.log([passkey, words, keys].map((entry) => Object.keys(entry).sort().join()).join(' '));",
        "console.log(words.seedFromWords(words.seedToWords(new Uint8Array(32))).length);",
        `console.log(keys.keyFromWords(${JSON.stringify(WALLET)}).privateKey.length);`,
        "passkey.seedFromPasskey().catch((error) => console.log(error instanceof TssError, error.reason));",
      ].join("\n");
      const file = kind === "import" ? "seed.js" : "seed.cjs";
      writeFileSync(path.join(folder, file), program);
      const argv = kind === "import" ? [file] : ["--no-experimental-require-module", file];
      const { code, out, err } = await runProgram(process.execPath, argv, "", {}, { folder });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const entries = await Promise.all([
        import("../../src/client/seed/passkey/index.ts"),
        import("../../src/client/seed/words/index.ts"),
        import("../../src/client/keys/index.ts"),
      ]);
      const names = entries.map((entry) => Object.keys(entry).sort().join()).join(" ");
      expect(out.toString().trim().split("\n")).toEqual([names, "32", "32", "true PASSKEY_UNAVAILABLE"]);
    },
  );

  it("loads with require(): the same names, one error class for all entries, and no ES module", async () => {
    writeFileSync(
      path.join(folder, "start.cjs"),
      [
        'const client = require("threshold-signing-client");',
        'const { TssError } = require("threshold-signing-client/admin");',
        'require("threshold-signing-client/worker");',
        'require("threshold-signing-client/reference");',
        "const engine = client.createInlineEngine();",
        'const keys = { curve: "ED25519", seed: new Uint8Array(32) };',
        "engine.deriveUserKeys(keys).then(({ signerAddress }) => {",
        "  console.log(Object.keys(client).sort().join(), TssError === client.TssError, signerAddress.length);",
        "});",
      ].join("\n"),
    );
    // A host without require() of ES modules, such as Jest.
    const argv = ["--no-experimental-require-module", "start.cjs"];
    const { code, out, err } = await runProgram(process.execPath, argv, "", {}, { folder });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const entry = await import("../../src/client/sdk/index.ts");
    expect(out.toString().trim()).toBe(`${Object.keys(entry).sort().join()} true 66`);
  });

  it("computes on a worker in Node", async () => {
    writeFileSync(
      path.join(folder, "worker.js"),
      [
        'import { createWorkerEngine } from "threshold-signing-client/worker";',
        "const engine = createWorkerEngine({ onFallback: (cause) => console.error(cause) });",
        'const keys = await engine.deriveUserKeys({ curve: "ED25519", seed: new Uint8Array(32) });',
        "console.log(keys.signerAddress);",
      ].join("\n"),
    );
    const { code, out, err } = await runProgram(process.execPath, ["worker.js"], "", {}, { folder });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.toString()).toMatch(/^0x[0-9a-f]{64}\n$/);
  });

  const oldest: TypeResolver = [
    "CommonJS before require() of ES modules",
    "sample.cts",
    { module: "node16" },
  ];
  it.each(
    atNight<TypeResolver>(
      [
        oldest,
        ["nodenext", "sample.ts", { module: "nodenext" }],
        ["a bundler", "sample.ts", { module: "esnext", moduleResolution: "bundler" }],
      ],
      [oldest],
    ),
  )("has types that %s resolves, and a README that compiles", async (_, sample, options) => {
    const readme = readFileSync(path.join(folder, "node_modules/threshold-signing-client/README.md"), "utf8");
    const [, program = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    expect(program).toContain("client.sign");
    // CommonJS has no await outside of functions.
    const imports = /^(?:import .*\n)+/.exec(program)?.[0] ?? "";
    const rest = program.slice(imports.length);
    const body = sample === "sample.ts" ? program : `${imports}export async function main() {\n${rest}\n}\n`;
    writeFileSync(path.join(folder, sample), body);
    const compilerOptions = {
      target: "es2023",
      lib: ["es2023", "dom"],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ["node"],
      typeRoots: [path.join(ROOT, "node_modules/@types")],
      ...options,
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [sample] }));
    const { code, out } = await runProgram(path.join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]);
    expect({ code, out: out.toString() }).toEqual({ code: 0, out: "" });
  });

  // The measured size is the chunk of the page's program with every chunk that it imports statically. For an action,
  // the chunks that it imports on demand are added. esbuild minifies the chunks, and each is compressed with gzip -9.
  /** The modules that onboard and sign, and the module that computes the user's half if no worker can start. */
  const ACTIONS = ["src/client/sdk/actions/flows.js", "src/client/sdk/chain/fullnode.js"];
  const FINDER = "src/client/sdk/actions/recovery/find-dwallets-within.js";
  const COMPUTATIONS = "src/client/crypto/engines/plain-calls.js";
  const WORKERS = "src/client/crypto/engines/engine-worker-program.js";
  it.each([
    ["makes a client", 'import { createClient } from "threshold-signing-client";', [], 71],
    [
      "onboards and signs on workers",
      'import { createClient } from "threshold-signing-client";',
      ACTIONS,
      202,
    ],
    [
      "onboards and signs on its own thread",
      'import { createClient } from "threshold-signing-client";',
      [...ACTIONS, COMPUTATIONS],
      220,
    ],
    [
      "makes a recovery",
      'import { createRecovery as createClient } from "threshold-signing-client";',
      [],
      34,
    ],
    ["finds dWallets", 'import { createClient } from "threshold-signing-client";', [...ACTIONS, FINDER], 203],
    [
      "makes an operator's client",
      'import { createAdminClient as createClient } from "threshold-signing-client/admin";',
      [],
      52,
    ],
    [
      "asks a passkey for the seed",
      'import { seedFromPasskey as createClient } from "threshold-signing-client/passkey";',
      [],
      8,
    ],
    [
      "reads the seed's words",
      'import { seedFromWords as createClient } from "threshold-signing-client/words";',
      [],
      12,
    ],
    [
      "joins the pieces of a recovery",
      'import { joinPieces as createClient } from "threshold-signing-client/pieces";',
      [],
      25,
    ],
    [
      "makes a client for React",
      'import { createClient as make } from "threshold-signing-client"; import * as hooks from "threshold-signing-client/react"; const createClient = { make, hooks };',
      [],
      72,
    ],
    [
      "makes an engine of workers",
      'import { createWorkerEngine as createClient } from "threshold-signing-client/worker";',
      [],
      8,
    ],
    [
      "makes an engine of workers and starts them",
      'import { createWorkerEngine as createClient } from "threshold-signing-client/worker";',
      [WORKERS],
      69,
    ],
  ])("loads no more than its limit into a page built by %s", async (_, program, onDemand, kilobytesMax) => {
    const page = await bundlePage(`${program}\nglobalThis.make = createClient;`, folder);
    expect(page.kilobytes(...onDemand)).toBeLessThan(kilobytesMax);
  });

  it.each([
    ["a table of names", "{ Curve }", 1],
    ["the error", "{ TssError }", 1],
    ["an address", "{ ethereumAddress }", 20],
    ["everything", "*", 236],
    ["a hook for React", "{ SigningProvider, useSign }", 2, "/react"],
    ["all hooks for React", "*", 2.2, "/react"],
  ])("gives a bundler no more than its imports need: %s", async (_, names, kilobytesMax, entry = "") => {
    const { outputFiles } = await build({
      stdin: { contents: `export ${names} from "threshold-signing-client${entry}";`, resolveDir: folder },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "error",
      external: ["react"],
    });
    expect(outputFiles).toHaveLength(1);
    expect(gzipSync(outputFiles[0]!.contents).length / 1e3).toBeLessThan(kilobytesMax);
  });

  it.each(["", "/admin", "/react", "/viem", "/ethers", "/solana", "/sui", "/bitcoin"])(
    "has no worker, no `import.meta` and no WebAssembly in a bundle of its entry %s",
    async (entry) => {
      const { outputFiles, warnings } = await build({
        stdin: { contents: `export * from "threshold-signing-client${entry}";`, resolveDir: folder },
        bundle: true,
        format: "esm",
        platform: "browser",
        write: false,
        logLevel: "silent",
        external: LIBRARIES,
      });
      expect(warnings).toEqual([]);
      const { text } = outputFiles[0]!;
      for (const found of ["import.meta", "new Worker", "worker_threads", "ika-wasm"])
        expect(text.includes(found), found).toBe(false);
    },
  );

  it("has passkeys, the list of words and pieces only in the bundles of their own entries", async () => {
    const manifest = JSON.parse(
      readFileSync(path.join(folder, "node_modules/threshold-signing-client/package.json"), "utf8"),
    ) as { readonly exports: Readonly<Record<string, object | string>> };
    const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
    const found = { "passkey-seed/v1": [] as string[], abandon: [] as string[], tsspiece: [] as string[] };
    for (const entry of entries) {
      const { outputFiles } = await build({
        stdin: { contents: `export * from "threshold-signing-client${entry.slice(1)}";`, resolveDir: folder },
        bundle: true,
        format: "esm",
        platform: "browser",
        write: false,
        logLevel: "silent",
        external: [...LIBRARIES, "@ika.xyz/ika-wasm"],
      });
      for (const [mark, holders] of Object.entries(found))
        if (outputFiles[0]?.text.includes(mark)) holders.push(entry);
    }
    expect(entries.length).toBeGreaterThan(10);
    expect(found).toEqual({
      "passkey-seed/v1": ["./passkey"],
      abandon: ["./words", "./keys"],
      tsspiece: ["./pieces"],
    });
  });

  it("passes publint and Are The Types Wrong", async () => {
    for (const [program, ...options] of [
      ["publint", "--strict"],
      ["attw", "--profile", "strict"],
    ] as const) {
      const { code, out, err } = await runProgram(path.join(ROOT, "node_modules/.bin", program), [
        installed.tarball,
        ...options,
      ]);
      expect({ program, code, out: code === 0 ? "" : out.toString(), err: code === 0 ? "" : err }).toEqual({
        program,
        code: 0,
        out: "",
        err: "",
      });
    }
  });
});

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(path.join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
