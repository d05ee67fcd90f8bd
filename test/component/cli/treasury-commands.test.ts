/**
 * A Treasury's whole life cycle through the command line, on a local network whose fullnode executes and refuses like
 * Sui.
 */

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Transaction } from "@mysten/sui/transactions";
import { toHex } from "@mysten/sui/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import {
  activeDwallet,
  type Harness,
  hotWallet,
  payFunds,
  payPresigns,
  readyPresigns,
  startHarness,
} from "../localnet/harness.ts";
import { shownAs, type TreasuryOperatorShell, treasuryOperator } from "./treasury-operator.ts";

const hot = hotWallet.toSuiAddress();
const [admin, pauser, recovery, next] = [1, 2, 3, 4].map(() => new Ed25519Keypair()) as [
  Ed25519Keypair,
  Ed25519Keypair,
  Ed25519Keypair,
  Ed25519Keypair,
];
let harness: Harness;
let shell: TreasuryOperatorShell;
let treasury: string;
let packageId: string;
const keys: Record<"admin" | "pauser" | "recovery" | "next" | "hot", string> = {
  admin: "",
  pauser: "",
  recovery: "",
  next: "",
  hot: "",
};

beforeAll(async () => {
  harness = await startHarness();
  shell = treasuryOperator(harness.net.url);
  for (const [name, key] of Object.entries({ admin, pauser, recovery, next })) {
    keys[name as keyof typeof keys] = shell.keyFile(key);
    await harness.net.fund(key.toSuiAddress());
  }
  keys.hot = shell.keyFile(hotWallet, toHex(localnetHotWalletSecret()));
  const published = await shell.done("publish", "--key-file", keys.admin, "--yes");
  treasury = shownAs(published, "new Treasury");
  packageId = shownAs(published, "new package");
});
afterAll(async () => {
  await harness.close();
  shell.remove();
});

it("the status of a local network's own Treasury says that nobody can upgrade its package", async () => {
  const own = await shell.done("status");
  expect(own).toContain(`treasury      ${harness.net.treasury.treasuryId}`);
  expect(own).toContain("UpgradeCap    none: the package is built into the local network");
  expect(own).not.toMatch(/not found|unknown/);
});

const as = (key: keyof typeof keys) => ["--treasury", treasury, "--key-file", keys[key], "--yes"];
const status = () => shell.done("status", "--treasury", treasury);

async function passEpochs(count: number): Promise<void> {
  for (let epoch = 0; epoch < count; epoch += 1) await harness.net.controls.advanceEpoch();
}

describe("a new Treasury", () => {
  it("is published, and its UpgradeCap goes to the address that the operator names", async () => {
    const to = pauser.toSuiAddress();
    const out = await shell.done("publish", "--upgrade-cap-to", to, "--key-file", keys.hot, "--yes");
    expect(shownAs(out, "new package")).not.toBe(packageId);
    const { objects } = await harness.client.listOwnedObjects({ owner: to });
    expect(objects.map(({ objectId }) => objectId)).toContain(shownAs(out, "new UpgradeCap"));
    expect(shownAs(out, "new AdminCap")).not.toBe("");
    expect(out).toContain(`SERVICECORE_LOCALNET_PACKAGE_ID=${shownAs(out, "new package")}`);
    expect(await status()).toContain(`held by ${admin.toSuiAddress()}; any compatible change`);
  });

  it("is ready after one transaction, and pays for a presign within the proposed limits", async () => {
    const words = ["init", "--holder", hot, "--operators", "2", "--signs", "100", "--dkgs", "10"];
    const roles = ["--pauser", pauser.toSuiAddress(), "--recovery", recovery.toSuiAddress()];
    const out = await shell.done(...words, ...roles, "--ika", "20", "--sui", "10", ...as("admin"));
    const caps = shownAs(out, "SERVICECORE_LOCALNET_OPERATOR_CAP_IDS").split(",");
    expect(caps).toHaveLength(2);
    const { net } = harness;
    const made = {
      ...harness,
      net: { ...net, treasury: { ...net.treasury, packageId, treasuryId: treasury } },
    };
    const { object } = await harness.client.getObject({ objectId: treasury });
    const initialSharedVersion = object.owner.Shared!.initialSharedVersion;
    await harness.run((tx) =>
      payPresigns(
        {
          ...made,
          treasuryCall: (_tx, name, args, capId = "") =>
            tx.moveCall({
              target: `${packageId}::treasury::${name}`,
              arguments: [
                tx.sharedObjectRef({ objectId: treasury, initialSharedVersion, mutable: true }),
                tx.object(capId),
                ...args,
              ],
            }),
        },
        tx,
        { capId: caps[0]! },
      ),
    );
    const shown = await status();
    expect(shown).toContain("holds         19.995000000 IKA, 9.997000000 SUI");
    expect(shown).toContain("0.005000000 IKA of 5.375000000 IKA");
    expect(shown).toContain("1 of 600 presigns");
    expect(await shell.refused(...words, ...as("admin"))).toContain("already has operators");
  });

  it("creates, renews and revokes operators", async () => {
    const minted = await shell.done("mint-operator", "--holder", hot, "--signs", "7", ...as("admin"));
    const cap = shownAs(minted, "new OperatorCap");
    await shell.done("renew-operator", cap, "--expires", "3", "--ika", "1.5", ...as("admin"));
    const shown = await status();
    expect(shown).toContain("0.000000000 IKA of 1.500000000 IKA");
    expect(shown).toContain("0 of 7 signatures");
    expect(shown).toContain(`WARNING: the OperatorCap ${cap} expires in 3 epochs`);
    await shell.done("revoke-operator", cap, ...as("admin"));
    expect(await status()).not.toContain(cap);
    expect(await shell.refused("revoke-operator", cap, ...as("admin"))).toContain("it was revoked");
  });

  it("follows Ika's prices, and warns of a ceiling below one", async () => {
    const one = ["--of", "sign:SECP256K1/Taproot", "--ika", "0.000000001"];
    await shell.done("set-ceiling", ...one, ...as("admin"));
    expect(await status()).toContain("WARNING: sign SECP256K1/Taproot costs more than its ceiling");
    await shell.done("set-ceiling", "--margin", "50", ...as("admin"));
    const shown = await status();
    expect(shown).not.toContain("WARNING");
    expect(shown).toMatch(/sign SECP256K1\/Taproot +0.010000000 IKA +0.015000000 IKA/);
  });

  it("accepts coins from anybody, and pays out to the address that the administrator names", async () => {
    await shell.done("fund", "--ika", "1.25", ...as("next"));
    expect(await status()).toContain("21.245000000 IKA");
    expect(await shell.refused("fund", "--ika", "1500", ...as("next"))).toContain(
      "has only 998.750000000 IKA",
    );
    await harness.net.fund(next.toSuiAddress());
    const merged = await shell.done("fund", "--ika", "1500", ...as("next"));
    expect(merged).toMatch(/1\. make an empty coin of \S+::SUI\n +2\. merge 0x\w+ into 0x\w+\n/);
    await shell.done("drain", "--ika", "1500", "--to", next.toSuiAddress(), ...as("admin"));
    const to = new Ed25519Keypair().toSuiAddress();
    await shell.done("drain", "--ika", "1", "--sui", "0.5", "--to", to, ...as("admin"));
    expect((await harness.client.getBalance({ owner: to })).balance.balance).toBe("500000000");
    const tooMuch = await shell.refused("drain", "--ika", "1000", "--to", to, ...as("admin"));
    expect(tooMuch).toContain("balance is too low");
  });

  it("accepts what an address has outside of coins, alone and together with its coins", async () => {
    const payer = new Ed25519Keypair();
    const owner = payer.toSuiAddress();
    const pay = async (sui: bigint, ika: bigint) => {
      await payFunds(harness, owner, sui);
      await payFunds(harness, owner, ika, harness.net.ikaCoinType);
    };
    const sign = ["--treasury", treasury, "--key-file", shell.keyFile(payer), "--yes"];
    const held = async () =>
      /holds +(\S+) IKA, (\S+) SUI/
        .exec(await status())!
        .slice(1)
        .map(Number);
    const [ika, sui] = (await held()) as [number, number];
    await pay(2_000_000_000n, 3_000_000_000n);
    const shown = await shell.done("fund", "--ika", "3", "--sui", "1.5", ...sign);
    expect(shown).toContain("take 1500000000 (smallest units) of");
    expect(shown).toMatch(/ika +3\.0+ IKA \(3000000000\)\n +sui +1\.50+ SUI \(1500000000\)/);
    expect(await held()).toEqual([ika + 3, sui + 1.5]);
    await pay(1_000_000_000n, 1n);
    await harness.run((tx) => tx.transferObjects([tx.splitCoins(tx.gas, [1_000_000_000n])], owner));
    await shell.done("fund", "--sui", "2", ...sign);
    expect(await held()).toEqual([ika + 3, sui + 3.5]);
    expect(await shell.refused("fund", "--ika", "1", ...sign)).toMatch(
      /and 0\.000000001 IKA \(1\) in its address balance/,
    );
  });

  it("is paused by the pauser, and unpaused only by the administrator", async () => {
    await shell.done("pause", ...as("pauser"));
    expect(await status()).toContain("YES: all payments are stopped");
    expect(await shell.refused("unpause", ...as("pauser"))).toContain("the holder of the AdminCap is");
    await shell.done("unpause", ...as("admin"));
    expect(await status()).toMatch(/paused +no/);
  });
});

describe("the administration", () => {
  it("goes to a multisig of 2 of 3 keys, whose signers each review the bytes that they sign", async () => {
    const signers = [new Ed25519Keypair(), new Secp256k1Keypair(), new Ed25519Keypair()];
    const files = signers.map((key) => shell.keyFile(key));
    const publicKeys = signers.map((key) => key.getPublicKey().toSuiPublicKey()).join(",");
    const multisig = ["--public-keys", publicKeys, "--threshold", "2"];
    const address = shownAs(await shell.done("multisig", ...multisig), "address");
    await harness.net.fund(address);
    await shell.done("rotate-admin", "offer", "--to", address, ...as("admin"));
    expect(await status()).toMatch(new RegExp(`offered to +${address}`));

    const bytes = ["--bytes", shell.file("accept.tx"), "--treasury", treasury];
    await shell.done("rotate-admin", "accept", "--treasury", treasury, "--unsigned", shell.file("accept.tx"));
    const signatures: string[] = [];
    for (const file of [files[0]!, files[2]!]) {
      const out = await shell.done("sign", ...bytes, "--key-file", file, "--yes");
      expect(out).toContain("accept_admin: take over the administration");
      signatures.push(shownAs(out, "signature"));
    }
    const alone = await shell.refused(
      "submit",
      ...bytes,
      "--signature",
      signatures[0]!,
      ...multisig,
      "--yes",
    );
    expect(alone).toContain("the signature is not the sender's");
    await shell.done("submit", ...bytes, "--signature", signatures.join(","), ...multisig, "--yes");
    expect(await status()).toMatch(new RegExp(`AdminCap .* held by ${address}`));

    const replaced = await shell.refused("drain", "--ika", "1", "--to", hot, ...as("admin"));
    expect(replaced).toContain(`the holder of the AdminCap is ${address}`);
    const offer = ["rotate-admin", "offer", "--to", admin.toSuiAddress(), "--treasury", treasury];
    await shell.done(...offer, "--unsigned", shell.file("offer.tx"));
    const signed = [];
    for (const file of files.slice(0, 2))
      signed.push(
        shownAs(
          await shell.done(
            "sign",
            "--bytes",
            shell.file("offer.tx"),
            "--treasury",
            treasury,
            "--key-file",
            file,
            "--yes",
          ),
          "signature",
        ),
      );
    const submitted = ["submit", "--bytes", shell.file("offer.tx"), "--treasury", treasury];
    await shell.done(...submitted, "--signature", signed.join(","), ...multisig, "--yes");
    await shell.done("rotate-admin", "accept", ...as("admin"));
    expect(await status()).toMatch(new RegExp(`AdminCap .* held by ${admin.toSuiAddress()}`));
  });

  it("is recovered after seven epochs, unless the administrator withdraws the offer", async () => {
    const to = next.toSuiAddress();
    await shell.done("rotate-admin", "recover", "--to", to, ...as("recovery"));
    await shell.done("rotate-admin", "withdraw", ...as("admin"));
    expect(await shell.refused("rotate-admin", "accept", ...as("next"))).toContain("offered to nobody");
    await shell.done("rotate-admin", "recover", "--to", to, ...as("recovery"));
    expect(await shell.refused("rotate-admin", "accept", ...as("next"))).toContain("only after seven epochs");
    await passEpochs(7);
    await shell.done("rotate-admin", "accept", ...as("next"));
    const old = await shell.refused("unpause", ...as("admin"));
    expect(old).toContain(`the holder of the AdminCap is ${to}`);
    await shell.done("set-roles", "--recovery", "nobody", ...as("next"));
    expect(await status()).toMatch(/recovery +nobody/);
    await shell.done("rotate-admin", "offer", "--to", admin.toSuiAddress(), ...as("next"));
    await shell.done("rotate-admin", "accept", ...as("admin"));
  });

  it("refuses to migrate a Treasury that has this version already", async () => {
    expect(await shell.refused("migrate", ...as("admin"))).toContain("already has this version");
  });
});

describe("capabilities", () => {
  const key = () => ["--key-file", keys.hot, "--yes"];

  it("of dWallets leave by an announced release after fourteen epochs, and those of presigns at once", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [presignId] = await readyPresigns(harness);
    const to = new Ed25519Keypair().toSuiAddress();
    await shell.done("announce-release", dwalletId, "--to", to, ...key());
    const shown = await shell.done("status");
    expect(shown).toMatch(
      new RegExp(
        `release +dWallet ${dwalletId} of 0x\\w+ to ${to}, from epoch \\d+, about 20[\\d-]+, to epoch \\d+`,
      ),
    );
    expect(await shell.refused("release", "--dwallet", dwalletId, ...key())).toContain(
      "fourteen epochs has not passed",
    );
    await shell.done("withdraw-release", dwalletId, ...key());
    expect(await shell.done("status")).not.toContain(dwalletId);
    await shell.done("announce-release", dwalletId, "--to", to, ...key());
    await passEpochs(14);
    await shell.done("release", "--dwallet", dwalletId, ...key());
    await shell.done("release", "--presign", presignId!, "--to", to, ...key());
    expect((await harness.client.listOwnedObjects({ owner: to })).objects).toHaveLength(2);
  });

  it("move to a successor, which takes them in as the events record", async () => {
    const { dwalletId, user } = await activeDwallet(harness);
    await readyPresigns(harness, { count: 2 });
    const from = harness.net.treasury.treasuryId;
    expect(await shell.refused("announce-successor", dwalletId, ...key())).toContain("not a shared Treasury");
    await shell.done("announce-successor", treasury, ...key());
    await shell.done("withdraw-successor", ...key());
    await shell.done("announce-successor", treasury, ...key());
    expect(await shell.refused("move", "--all", ...key())).toContain("fourteen epochs has not passed");
    await passEpochs(14);
    await shell.done("move", "--all", ...key());
    expect(await shell.refused("move", "--all", ...key())).toContain("nothing is left to move");
    expect(await shell.refused("take-in", "--from", treasury, ...as("admin"))).toContain("left to take in");
    const taken = await shell.done("take-in", "--from", from, ...as("admin"));
    expect(taken).toContain(`owner       ${user.address}`);
    expect(taken).toContain("curve       SECP256K1 (0)");
    expect(await status()).toContain("1 dWallets, 3 presigns");
    expect(await shell.refused("take-in", "--from", from, ...as("admin"))).toContain("left to take in");
  });
});

describe("a transaction is refused", () => {
  it("if the key is not the one that the call needs", async () => {
    expect(await shell.refused("drain", "--ika", "1", "--to", hot, ...as("next"))).toContain(
      `the holder of the AdminCap is ${admin.toSuiAddress()}, but the transaction's sender would be ${next.toSuiAddress()}`,
    );
  });

  it("if the fullnode serves another network", async () => {
    const elsewhere = ["--network", "testnet", "--fullnode", harness.net.url, ...as("admin")];
    expect(await shell.refused("unpause", ...elsewhere)).toMatch(/does not serve testnet: its chain is \w+/);
  });

  it("if its bytes were changed after they were signed", async () => {
    const [file, changed] = [shell.file("drain.tx"), shell.file("changed.tx")];
    const drain = ["drain", "--ika", "1", "--to", admin.toSuiAddress(), "--treasury", treasury];
    await shell.done(...drain, "--unsigned", file);
    const { readFileSync, writeFileSync } = await import("node:fs");
    const bytes = Buffer.from(readFileSync(file, "utf8"), "base64");
    const { signature } = await admin.signTransaction(bytes);
    const at = bytes.indexOf(Buffer.from("00ca9a3b00000000", "hex"));
    expect(at).toBeGreaterThan(0);
    bytes[at] = 1;
    writeFileSync(changed, bytes.toString("base64"));
    const submit = (name: string) =>
      shell.tss("submit", "--bytes", name, "--signature", signature, "--treasury", treasury, "--yes");
    const { exitCode, out, err } = await submit(changed);
    expect(exitCode).toBe(1);
    expect(out).toContain("1.000000001 IKA (1000000001)");
    expect(err).toContain(`the signature is not the sender's, ${admin.toSuiAddress()}, over these bytes`);
    const strangers = (await next.signTransaction(Buffer.from(readFileSync(file, "utf8"), "base64")))
      .signature;
    const words = ["--bytes", file, "--signature", strangers, "--treasury", treasury, "--yes"];
    expect(await shell.refused("submit", ...words)).toContain("the signature is not the sender's");
    expect((await submit(file)).exitCode).toBe(0);
  });

  it("if its bytes do anything other than call the Treasury", async () => {
    const tx = new Transaction();
    tx.setSender(admin.toSuiAddress());
    tx.transferObjects([tx.splitCoins(tx.gas, [1_000_000_000n])], next.toSuiAddress());
    const bytes = await tx.build({ client: harness.client });
    const { writeFileSync } = await import("node:fs");
    writeFileSync(shell.file("theft.tx"), Buffer.from(bytes).toString("base64"));
    const words = ["--bytes", shell.file("theft.tx"), "--treasury", treasury];
    expect(await shell.refused("sign", ...words, "--key-file", keys.admin, "--yes")).toContain(
      "transfers objects other",
    );
    const { signature } = await admin.signTransaction(bytes);
    expect(await shell.refused("submit", ...words, "--signature", signature, "--yes")).toContain(
      "transfers objects other",
    );
  });

  it("if the operator does not answer yes, or only requests a dry run", async () => {
    const { runCli } = await import("./run-cli.ts");
    const words = ["treasury", "pause", "--as", "admin", "--treasury", treasury, "--key-file", keys.admin];
    const no = await runCli(words, shell.environment, undefined, "y");
    expect(no).toMatchObject({ exitCode: 1, err: "tss treasury pause: nothing was sent" });
    await shell.done(...words.slice(1), "--dry-run");
    expect(await status()).toMatch(/paused +no/);
    expect((await runCli(words, shell.environment, undefined, "yes")).exitCode).toBe(0);
    expect(await status()).toMatch(/paused +YES/);
  });

  it("if the modules of a publication are not those of this version", async () => {
    const { packageFor } = await import("../../../src/cli/treasury/open-treasury.ts");
    const { modules, dependencies } = packageFor({ name: "localnet", ikaConfig: harness.net.ikaConfig });
    const tx = new Transaction();
    const cap = tx.publish({ modules: modules.slice(1), dependencies: [...dependencies] });
    tx.transferObjects([cap], hot);
    tx.setSender(hot);
    await expect(tx.build({ client: harness.client })).rejects.toThrow("only the Treasury's package");
  });
});
