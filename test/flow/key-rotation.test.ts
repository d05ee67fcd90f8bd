/** The network makes a new encryption key while a service runs: dWallets of the old and of the new key both sign. */
import { randomBytes } from "node:crypto";
import { afterAll, expect, it, vi } from "vitest";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { createClient } from "../../src/sdk/index.ts";
import { judge } from "../support/judges.ts";
import {
  type ServiceProcess,
  serviceFolder,
  startLocalnetProcess,
  startService,
} from "../support/service.ts";
import { fromBase64 } from "../support/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const { folder, remove } = serviceFolder();
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  remove();
});

it("old and new dWallets sign after a rotation, each under its own key", { timeout: 240_000 }, async () => {
  const localnet = await startLocalnetProcess(folder);
  stops.push(() => localnet.stop());
  const service: ServiceProcess = await startService(folder, {
    LOCALNET_URL: localnet.url,
    PRESIGN_BUCKETS: "ED25519/EdDSA",
  });
  stops.push(() => service.stop());
  const { baseUrl, apiKey } = service.access;
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  const seeds = [randomBytes(32), randomBytes(32)].map((seed) => new Uint8Array(seed));
  const older = await client.onboard({ seed: seeds[0]!, curve: "ED25519" });

  const rotated = await fetch(`${localnet.url}/localnet/rotate-network-key`, { method: "POST" });
  const { networkEncryptionKeyId } = (await rotated.json()) as { networkEncryptionKeyId: string };
  const read = async (path: string) =>
    (await (await fetch(`${baseUrl}${path}`, { headers: { "x-api-key": apiKey } })).json()) as Record<
      string,
      unknown
    >;
  const keyOf = async (dwalletId: string) =>
    (await read(`/v1/dwallets/${dwalletId}`))["networkEncryptionKeyId"];
  // The service looks for newer keys now and then.
  await vi.waitUntil(
    async () => (await read("/v1/network"))["networkEncryptionKeyId"] === networkEncryptionKeyId,
    { timeout: 30_000, interval: 200 },
  );
  const oldKeyId = await keyOf(older.dwallet.id);
  expect((await read("/v1/network"))["networkEncryptionKeyIds"]).toEqual([oldKeyId, networkEncryptionKeyId]);
  const newer = await client.onboard({ seed: seeds[1]!, curve: "ED25519" });
  expect(await keyOf(newer.dwallet.id)).toBe(networkEncryptionKeyId);

  for (const [index, { dwallet, userSecretKeyShareHex }] of [older, newer].entries()) {
    const message = new Uint8Array(randomBytes(40));
    const { signature } = await client.sign({
      seed: seeds[index]!,
      dwalletId: dwallet.id,
      curve: "ED25519",
      signatureAlgorithm: "EdDSA",
      hashScheme: "SHA512",
      message,
      userSecretKeyShareHex,
    });
    const publicKey = fromBase64((await read(`/v1/dwallets/${dwallet.id}`))["publicKey"] as string);
    expect(judge({ ...triple, publicKey, message, signature })).toBe(true);
  }
});
