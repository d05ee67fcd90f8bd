/**
 * The network makes a new encryption key, and hands its keys over to other committees, while a service runs. Its keys
 * look like those of the live networks: a DKG output of version 1, and one of version 4 for each epoch.
 */
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { createClient } from "../../src/client/sdk/index.ts";
import { startLocalnet } from "../../src/localnet/localnet.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { fromBase64 } from "../support/service/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const { folder, remove } = await migratedFolder();
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  remove();
});

it("old and new dWallets sign after a rotation, each under its own key", { timeout: 600_000 }, async () => {
  const localnet = await startLocalnet({
    dataDirectory: path.join(folder, "localnet"),
    cacheDirectory: path.join(tmpdir(), "ika-localnet", "mpc-cache"),
    hasVersion1Dkg: true,
  });
  stops.push(() => localnet.close());
  const service: ServiceProcess = await startService(folder, {
    LOCALNET_URL: localnet.url,
    PRESIGN_BUCKETS: "ED25519/EdDSA",
    PROTOCOL_PARAMETERS: "on",
  });
  stops.push(() => service.stop());
  const { baseUrl, apiKey } = service.access;
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  const seeds = [randomBytes(32), randomBytes(32)].map((seed) => new Uint8Array(seed));
  const older = await client.onboard({ seed: seeds[0]!, curve: "ED25519" });

  await localnet.controls.advanceEpoch();
  const networkEncryptionKeyId = await localnet.controls.rotateNetworkKey();
  const read = async (path: string) =>
    (await (await fetch(`${baseUrl}${path}`, { headers: { "x-api-key": apiKey } })).json()) as Record<
      string,
      unknown
    >;
  const keyOf = async (dwalletId: string) =>
    (await read(`/v1/dwallets/${dwalletId}`))["networkEncryptionKeyId"];
  // The service checks for newer keys periodically.
  await pollUntil(
    async () => (await read("/v1/network"))["networkEncryptionKeyId"] === networkEncryptionKeyId,
  );
  const oldKeyId = await keyOf(older.dwallet.id);
  expect((await read("/v1/network"))["networkEncryptionKeyIds"]).toEqual([oldKeyId, networkEncryptionKeyId]);
  const newer = await client.onboard({ seed: seeds[1]!, curve: "ED25519" });
  expect(await keyOf(newer.dwallet.id)).toBe(networkEncryptionKeyId);

  await localnet.controls.advanceEpoch();
  const later = createClient({ baseUrl, apiKey, network: "localnet" });
  for (const [index, { dwallet, userSecretKeyShareHex }] of [older, newer].entries()) {
    const message = new Uint8Array(randomBytes(40));
    const { signature } = await later.sign({
      seed: seeds[index]!,
      dwalletId: dwallet.id,
      curve: "ED25519",
      signatureAlgorithm: "EdDSA",
      hashScheme: "SHA512",
      message,
      userSecretKeyShareHex,
    });
    const publicKey = fromBase64((await read(`/v1/dwallets/${dwallet.id}`))["publicKey"] as string);
    expect(isValidSignature({ ...triple, publicKey, message, signature })).toBe(true);
  }
  // The service has read the same outputs.
  await pollUntil(async () => {
    const served = (await read("/v1/network"))["protocolParameters"] as {
      networkEncryptionKeyId: string;
    }[];
    return new Set(served.map((parameters) => parameters.networkEncryptionKeyId)).size === 2;
  });
});
