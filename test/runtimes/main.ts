/**
 * Runs the client's package on other runtimes and builds it with other tools, each of an exact version from npm in a
 * temporary folder. Every one of them signs by ECDSA against a local service, and a foreign library verifies the
 * signature: `npm run test:runtimes [-- --only bun]`. It prints the table of docs/sdk.md with the time that a user's
 * half took on the calling thread, and ends with 1 if a runtime failed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../../src/client/sdk/index.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { registryEnvironment } from "../support/environment.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { serviceFolder, startService } from "../support/service/service.ts";
import { runtimes } from "./runtimes.ts";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = runtimes().filter(({ name }) => name.toLowerCase().includes(values.only?.toLowerCase() ?? ""));
if (chosen.length === 0) throw new Error(`no runtime has ${values.only} in its name`);
const triple = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;
const message = new TextEncoder().encode("signed on every runtime");
const work = mkdtempSync(path.join(tmpdir(), "runtimes-"));
const { folder: data, remove } = serviceFolder();
const service = await startService(data, { PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1" });
let failedCount = 0;
try {
  const pack = ["run", "--silent", "pack:client", "--", "--to", work];
  const tarball = execFileSync("npm", pack, { cwd: ROOT, env: registryEnvironment }).toString().trim();
  const { baseUrl, apiKey, fullnodeUrl } = service.access;
  const seed = new Uint8Array(randomBytes(32));
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  const key = await client.onboard({ seed, curve: "SECP256K1" });
  const settings = {
    baseUrl,
    apiKey,
    fullnodeUrl,
    dwalletId: key.dwallet.id,
    sessionDigestHex: key.sessionDigestHex,
    seedHex: Buffer.from(seed).toString("hex"),
    messageHex: Buffer.from(message).toString("hex"),
  };
  const publicKey = Buffer.from(key.publicKeyHex, "hex");
  for (const [index, runtime] of chosen.entries()) {
    const folder = path.join(work, String(index));
    mkdirSync(folder);
    cpSync(path.join(import.meta.dirname, "programs"), folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
    writeFileSync(path.join(folder, "settings.mjs"), `export default ${JSON.stringify(settings)};\n`);
    writeFileSync(path.join(folder, "package.json"), '{ "private": true }');
    try {
      const packages = Object.entries(runtime.packages).map(([name, version]) => `${name}@${version}`);
      const install = ["install", "--no-audit", "--no-fund", "--loglevel", "error"];
      run(folder, "npm", [...install, ...(runtime.installOptions ?? []), tarball, ...packages]);
      const said = runtime.sign({
        run: (program, argv) => run(folder, program, argv),
        bin: (program) => path.join(folder, "node_modules/.bin", program),
      });
      if (/warn|⚠/i.test(said)) throw new Error(`it warns:\n${said}`);
      const found = /\{"signatureHex":.*\}/.exec(said)?.[0];
      if (found === undefined) throw new Error(`it printed no signature:\n${said}`);
      const { signatureHex, halfMs } = JSON.parse(found) as { signatureHex: string; halfMs: number };
      const signature = Buffer.from(signatureHex, "hex");
      if (!isValidSignature({ ...triple, publicKey, message, signature }))
        throw new Error("the signature does not verify");
      console.log(`| ${runtime.name} | signs | ${(halfMs / 1000).toFixed(1)} s |`);
    } catch (error) {
      failedCount++;
      console.log(`| ${runtime.name} | FAILED | ${error instanceof Error ? error.message : String(error)} |`);
    }
    rmSync(folder, { recursive: true });
  }
} finally {
  await service.stop();
  remove();
  rmSync(work, { recursive: true });
}
process.exit(failedCount > 0 ? 1 : 0);

/** Runs a program in a folder. Returns all that it printed; throws with that if the program fails. */
function run(folder: string, program: string, argv: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, argv, {
    cwd: folder,
    env: { ...registryEnvironment, NEXT_TELEMETRY_DISABLED: "1" },
    timeout: 300_000,
    encoding: "utf8",
  });
  const said = `${stdout}${stderr}`;
  if (error !== undefined || status !== 0)
    throw new Error(`${path.basename(program)} ended with ${error ?? status}:\n${said}`);
  return said;
}
