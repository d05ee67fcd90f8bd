/**
 * Generates everything that is generated: `third_party` from npm packages, `gen/proto` and `gen/client` from the
 * protos, `gen/prisma` from the Prisma schema, `gen/wasm` from WebAssembly text, `docs/errors.md` from the error catalogue, `.env.example` and `signer.env.example`
 * from the tables of the configuration, and `gen/openapi.json` and `gen/signer-openapi.json` from protos and catalogue. With `--check` it generates into a throw-away
 * folder instead, and fails if the result differs from the tree, committed or not.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { envExample, SERVICE_ENVIRONMENT, SIGNER_ENVIRONMENT } from "./env-example.ts";
import { errorsDocument } from "./errors-doc.ts";
import { assembleKernels } from "./kernels/assemble-kernels.ts";
import { type ServiceManifest, serviceDocument } from "./service-api/service-document.ts";
import { signerDocument } from "./signer-api/signer-document.ts";
import { layOutThirdPartyProtos } from "./third-party-protos.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const OPENAPI = { "gen/openapi.json": serviceDocument, "gen/signer-openapi.json": signerDocument };
const THIRD_PARTY = "third_party";
const FOLDERS = ["gen/proto", "gen/client", "gen/prisma", "gen/wasm", THIRD_PARTY];
const DOCUMENTS = {
  "docs/errors.md": errorsDocument(),
  ".env.example": envExample(SERVICE_ENVIRONMENT),
  "signer.env.example": envExample(SIGNER_ENVIRONMENT),
};

if (process.argv.includes("--check")) {
  const folder = mkdtempSync(path.join(tmpdir(), "generate-"));
  try {
    await generate(folder);
    report(generatedFiles(folder).filter((file) => contents(folder, file) !== contents(ROOT, file)));
  } finally {
    rmSync(folder, { recursive: true });
  }
} else {
  await generate(ROOT);
}

async function generate(root: string): Promise<void> {
  layOutThirdPartyProtos(path.join(root, THIRD_PARTY));
  run("buf", "generate", "-o", root);
  run("buf", "generate", "--template", "buf.gen.client.yaml", "-o", root);
  const schema = path.join(root, "prisma/schema.prisma");
  if (root !== ROOT) cpSync(path.join(ROOT, "prisma/schema.prisma"), schema);
  run("prisma", "generate", "--schema", schema);
  for (const [file, text] of Object.entries(DOCUMENTS)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  writeOpenApi(root);
  mkdirSync(path.join(root, "gen/wasm"), { recursive: true });
  for (const [file, text] of Object.entries(await assembleKernels(ROOT)))
    writeFileSync(path.join(root, file), text);
}

/** Generated descriptors have no comments, so the documents are made from an image that has them. */
function writeOpenApi(root: string): void {
  const image = run("buf", "build", "proto", "-o", "-#format=binpb");
  const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as ServiceManifest;
  for (const [file, documentOf] of Object.entries(OPENAPI))
    writeFileSync(path.join(root, file), `${JSON.stringify(documentOf(image, manifest), null, 2)}\n`);
}

/** Runs a program of `node_modules/.bin` and returns its output. Its error output is shown only if it fails. */
function run(program: string, ...args: string[]): Buffer {
  const options = { cwd: ROOT, stdio: "pipe", maxBuffer: MAX_OUTPUT_BYTES } as const;
  return execFileSync(path.join(ROOT, "node_modules/.bin", program), args, options);
}

/** The files that are generated now, and those that exist from before and may be obsolete. */
function generatedFiles(fresh: string): string[] {
  const inFolders = FOLDERS.flatMap((folder) => [...filesBelow(fresh, folder), ...filesBelow(ROOT, folder)]);
  return [...new Set([...inFolders, ...Object.keys(DOCUMENTS), ...Object.keys(OPENAPI)])];
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

function contents(root: string, file: string): string | undefined {
  try {
    return readFileSync(path.join(root, file), "utf8");
  } catch {
    return undefined;
  }
}

function report(stale: string[]): void {
  if (stale.length === 0) return;
  console.error(`Not up to date:\n${stale.map((file) => `  ${file}`).join("\n")}\nRun npm run generate.`);
  process.exitCode = 1;
}
