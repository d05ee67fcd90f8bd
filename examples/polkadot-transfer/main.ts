/** Signs the payload of a Polkadot transfer. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { bnToU8a, compactToU8a, hexToU8a, u8aConcat, u8aToHex } from "@polkadot/util";
import { cryptoWaitReady, decodeAddress, encodeAddress, signatureVerify } from "@polkadot/util-crypto";
import { Curve, createClient, Hash, SignatureAlgorithm } from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, publicKeyHex, sessionDigestHex } = await client.onboard({ seed, curve: Curve.RISTRETTO });
const POLKADOT = 0;
const address = encodeAddress(Buffer.from(publicKeyHex, "hex"), POLKADOT);
console.log("address", address);

// balances.transferKeepAlive(dest: MultiAddress::Id, value), in SCALE. The API of Polkadot builds it from the metadata.
const recipient = decodeAddress("5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY");
const planck = compactToU8a(10_000_000_000n);
const call = u8aConcat([5, 3], [0], recipient, planck);

// What the signed extensions of the runtime add. The version comes from a node; here it is made up.
const u32 = (value: number) => bnToU8a(value, { bitLength: 32, isLe: true });
const genesis = hexToU8a("0x91b171bb158e2d3848fa23a9f1c25182fb8e20313b2c1eb49219da7a70ce90c3");
const [immortal, nonce, tip, noMetadataHash] = [[0], compactToU8a(0), compactToU8a(0), [0]];
const extra = u8aConcat(immortal, nonce, tip, noMetadataHash);
const additional = u8aConcat(u32(2_000_000), u32(26), genesis, genesis, noMetadataHash);
const payload = u8aConcat(call, extra, additional);

const { signature } = await client.sign({
  ...{ seed, dwalletId: dwallet.id, sessionDigestHex, message: payload },
  ...{ curve: Curve.RISTRETTO, signatureAlgorithm: SignatureAlgorithm.Schnorrkel, hashScheme: Hash.Merlin },
});

await cryptoWaitReady();
const SR25519 = [1];
const { isValid, crypto } = signatureVerify(payload, u8aConcat(SR25519, signature), address);
console.log("verified", crypto, isValid);
const VERSION_4_SIGNED = [0x84];
const sender = u8aConcat([0], decodeAddress(address));
const body = u8aConcat(VERSION_4_SIGNED, sender, SR25519, signature, extra, call);
console.log("extrinsic", u8aToHex(u8aConcat(compactToU8a(body.length), body)));
