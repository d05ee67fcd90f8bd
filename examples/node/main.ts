/** Creates a named key, signs with it, and resumes after being stopped. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Curve, createClient, Hash, SignatureAlgorithm, TssError } from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

// Keep the seed in a safer place than this: anyone who has it can sign.
if (!existsSync("seed.hex")) writeFileSync("seed.hex", randomBytes(32).toString("hex"), { mode: 0o600 });
const seed = new Uint8Array(Buffer.from(readFileSync("seed.hex", "utf8"), "hex"));

const key = await client.getOrCreate({ seed, curve: Curve.ED25519, name: "example" });
for (const { kind, address } of key.addresses) console.log(kind, address);

const message = new TextEncoder().encode(process.argv[2] ?? "hello");
const signed = existsSync("resume-token") ? await goOn() : await sign();
console.log("signature", Buffer.from(signed.signature).toString("hex"));
rmSync("resume-token", { force: true });

const { balanceMicroUsd } = await client.balance();
console.log("balance", Number(balanceMicroUsd) / 1e6, "USD");

async function sign() {
  return await client.sign(
    {
      ...{ seed, dwalletId: key.dwallet.id, sessionDigestHex: key.sessionDigestHex, message },
      ...{ curve: Curve.ED25519, signatureAlgorithm: SignatureAlgorithm.EdDSA, hashScheme: Hash.SHA512 },
    },
    {
      onProgress: (stage, elapsedMs) => console.log(stage, Math.round(elapsedMs), "ms"),
      onResumeToken: keep,
    },
  );
}

/** Resumes the signature of an earlier run that was stopped. */
async function goOn() {
  try {
    const resumed = await client.resume(readFileSync("resume-token", "utf8"), { seed, message });
    if (resumed.kind === "sign") return resumed;
  } catch (error) {
    // Otherwise the token belongs to a signature of another message.
    if (!(error instanceof TssError) || error.metadata["field"] !== "message") throw error;
  }
  return await sign();
}

/** Stores the token atomically. */
function keep(token: string): void {
  writeFileSync("resume-token.new", token);
  renameSync("resume-token.new", "resume-token");
}
