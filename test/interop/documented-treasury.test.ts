/**
 * Runs every command of docs/treasury.md with its options, unchanged, with the built program and in the document's
 * order.
 */
import { writeFileSync } from "node:fs";
import type { Keypair } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { activeDwallet, type Harness, hotWallet, startHarness } from "../component/localnet/harness.ts";
import { documentedCommands } from "../support/repository/documented-commands.ts";
import { type OperatorShell, openOperatorShell } from "./operator/operator-shell.ts";

const PLACE = "treasury";
/** Sections about capabilities, which only the local network's own Treasury holds. */
const OF_FIRST_TREASURY = ["Hand out a capability", "Move to a successor"];
/** A text between backticks that only names a command has neither values nor a key. */
const commands = documentedCommands("docs/treasury.md").filter(({ text }) => /\$|--key-file/.test(text));
const TIMEOUT_MS = 60_000;

const keys = {
  "admin.key": new Ed25519Keypair(),
  "pauser.key": new Ed25519Keypair(),
  "recovery.key": new Ed25519Keypair(),
  "new-admin.key": new Ed25519Keypair(),
  "key-1.key": new Ed25519Keypair(),
  "key-2.key": new Secp256k1Keypair(),
  "key-3.key": new Ed25519Keypair(),
} satisfies Record<string, Keypair>;
const publicKeyOf = (name: keyof typeof keys) => keys[name].getPublicKey();
const multisig = MultiSigPublicKey.fromPublicKeys({
  threshold: 2,
  publicKeys: (["key-1.key", "key-2.key", "key-3.key"] as const).map((name) => ({
    publicKey: publicKeyOf(name),
    weight: 1,
  })),
});
let harness: Harness;
let shell: OperatorShell;
let environment: Record<string, string>;

beforeAll(async () => {
  harness = await startHarness();
  shell = await openOperatorShell();
  for (const key of Object.values(keys)) await harness.net.fund(key.toSuiAddress());
  await harness.net.fund(multisig.toSuiAddress());
  const { dwalletId } = await activeDwallet(harness);
  environment = {
    LOCALNET_URL: harness.net.url,
    DWALLET_ID: dwalletId,
    HOT_WALLET: hotWallet.toSuiAddress(),
    KEY_1: publicKeyOf("key-1.key").toSuiPublicKey(),
    KEY_2: publicKeyOf("key-2.key").toSuiPublicKey(),
    KEY_3: publicKeyOf("key-3.key").toSuiPublicKey(),
    MULTISIG: multisig.toSuiAddress(),
    PAUSER: keys["pauser.key"].toSuiAddress(),
    RECOVERY: keys["recovery.key"].toSuiAddress(),
    ADMIN: keys["admin.key"].toSuiAddress(),
    NEW_ADMIN: keys["new-admin.key"].toSuiAddress(),
    RECIPIENT: new Ed25519Keypair().toSuiAddress(),
  };
  await keep(PLACE, keys);
  for (const section of OF_FIRST_TREASURY) await keep(section, { "admin.key": hotWallet });
}, TIMEOUT_MS);
afterAll(async () => {
  await harness?.close();
  await shell?.close();
});

/** Writes key files into a folder of the shell. */
async function keep(folder: string, files: Readonly<Record<string, Keypair>>): Promise<void> {
  const { out } = await shell.run(folder, "pwd", {});
  for (const [name, key] of Object.entries(files))
    writeFileSync(`${out.toString().trim()}/${name}`, key.getSecretKey(), { mode: 0o600 });
}

describe("the Treasury's document", { timeout: TIMEOUT_MS }, () => {
  it("shows more than twenty commands", () => {
    expect(commands.length).toBeGreaterThan(20);
  });

  it.for(commands)("shows a command that works: $text", async ({ section, text }) => {
    const isOfFirst = OF_FIRST_TREASURY.includes(section);
    const now = isOfFirst
      ? {
          ...environment,
          SUCCESSOR_ID: environment["TREASURY_ID"] ?? "",
          TREASURY_ID: harness.net.treasury.treasuryId,
        }
      : environment;
    const { code, out, err } = await shell.run(isOfFirst ? section : PLACE, text, now);
    expect({ code, said: `${out.toString()}${err}` }).toMatchObject({ code: 0 });
    const said = out.toString();
    if (text.startsWith("tss treasury multisig --public-keys"))
      expect(said).toContain(multisig.toSuiAddress());
    if (text.startsWith("tss treasury multisig --key-file")) expect(said).toContain(environment["KEY_1"]);
    remember("TREASURY_ID", /^new Treasury +(\S+)/m.exec(said));
    remember("OPERATOR_CAP_ID", /^new OperatorCap +(\w+)/m.exec(said));
  });

  it("leaves the multisig as the administrator on the chain", async () => {
    const { owner } = (await harness.client.getObject({ objectId: await adminCapId() })).object;
    expect(owner.AddressOwner).toBe(multisig.toSuiAddress());
  });
});

function remember(name: string, found: RegExpExecArray | null): void {
  if (found?.[1] !== undefined) environment = { ...environment, [name]: found[1] };
}

async function adminCapId(): Promise<string> {
  const { out } = await shell.run(PLACE, 'tss treasury status --json --treasury "$TREASURY_ID"', environment);
  return (JSON.parse(out.toString()) as { treasury: { adminCapId: string } }).treasury.adminCapId;
}
