import { createHash } from "node:crypto";
import { createRouterTransport } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import type { CryptoEngine } from "../../../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { deriveUserKeys } from "../../../../src/client/crypto/user-keys.ts";
import {
  createChainParameters,
  readNetworkKeyOutput,
} from "../../../../src/client/sdk/chain/chain-parameters.ts";
import { connectFullnode, type Fullnode } from "../../../../src/client/sdk/chain/fullnode.ts";
import { createTrustedChain, type TrustedChain } from "../../../../src/client/sdk/chain/trusted-chain.ts";
import { createClient } from "../../../../src/client/sdk/client.ts";
import type { Localnet } from "../../../../src/localnet/localnet.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import type { FullnodeObject } from "../../../../src/protocol/chain/chain-reader.ts";
import { ChunkField, DWalletNetworkEncryptionKey } from "../../../../src/protocol/chain/chain-structs.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import { act, idsOf, lying, NETWORK_OUTPUT, startChain } from "../../../unit/client/sdk/chain-harness.ts";

const SLOW = { timeout: 60_000 };
const engine = createInlineEngine();
let net: Localnet;
let honest: Fullnode;

beforeAll(async () => {
  net = await startChain();
  honest = connectFullnode("localnet", net.url);
});
afterAll(() => net.close());

function chainOf(...fullnodes: Fullnode[]): TrustedChain {
  return createTrustedChain({
    fullnodes: async () => fullnodes,
    ids: async () => idsOf(net),
    chainIdentifier: net.chainId,
  });
}

function load(chain: TrustedChain, networkEncryptionKeyId = net.networkEncryptionKeyId): Promise<Uint8Array> {
  const source = createChainParameters(chain, engine);
  return act((action) => source.load(action, { curve: "ED25519", networkEncryptionKeyId }));
}

const sha256 = (octets: Uint8Array): string => createHash("sha256").update(octets).digest("hex");
const EXPECTED = sha256(buildProtocolParameters(2, NETWORK_OUTPUT, NO_TABLES));

/** The network key's object, changed. */
const withKey =
  (change: Partial<Parameters<typeof DWalletNetworkEncryptionKey.serialize>[0]>) =>
  (object: FullnodeObject, objectId: string): FullnodeObject => {
    if (objectId !== net.networkEncryptionKeyId) return object;
    const key = DWalletNetworkEncryptionKey.parse(object.content);
    return { ...object, content: DWalletNetworkEncryptionKey.serialize({ ...key, ...change }).toBytes() };
  };

/** The chunks of the network key's output, changed. */
const withChunks =
  (change: (value: Uint8Array, index: bigint) => Uint8Array | undefined) =>
  (object: FullnodeObject): FullnodeObject | undefined => {
    if (!object.type.endsWith("Field<u64,vector<u8>>")) return object;
    const { id, name, value } = ChunkField.parse(object.content);
    const changed = change(value, BigInt(name));
    return changed && { ...object, content: ChunkField.serialize({ id, name, value: changed }).toBytes() };
  };

describe("parameters", () => {
  test("are built from the network key's output on the chain", SLOW, async () => {
    expect(sha256(await load(chainOf(honest)))).toBe(EXPECTED);
  });

  test("are built once in a process, and each client reads the chain once", SLOW, async () => {
    let readCount = 0;
    const counted = lying(honest, (object) => {
      readCount++;
      return object;
    });
    const first = await load(chainOf(honest));
    const source = createChainParameters(chainOf(counted), engine);
    const request = { curve: "ED25519", networkEncryptionKeyId: net.networkEncryptionKeyId } as const;
    expect(await act((action) => source.load(action, request))).toBe(first);
    const once = readCount;
    expect(await act((action) => source.load(action, request))).toBe(first);
    expect(readCount).toBe(once);
  });

  test("of every network key are found after the network made another one", SLOW, async () => {
    const rotated = await startChain(NETWORK_OUTPUT, { seed: new Uint8Array(32).fill(8) });
    try {
      const newest = await rotated.controls.rotateNetworkKey();
      const chain = createTrustedChain({
        fullnodes: async () => [connectFullnode("localnet", rotated.url)],
        ids: async () => idsOf(rotated),
        chainIdentifier: undefined,
      });
      for (const keyId of [rotated.networkEncryptionKeyId, newest]) {
        const output = await act((action) => readNetworkKeyOutput(chain, action, keyId, 2));
        expect(bytesToHex(output)).toBe(bytesToHex(NETWORK_OUTPUT));
      }
    } finally {
      await rotated.close();
    }
  });

  describe("of a network that reconfigures its keys", () => {
    const networks: Localnet[] = [];
    const started = async (...args: Parameters<typeof startChain>) => {
      const network = await startChain(...args);
      networks.push(network);
      const chain = createTrustedChain({
        fullnodes: async () => [connectFullnode("localnet", network.url)],
        ids: async () => idsOf(network),
        chainIdentifier: undefined,
      });
      const read = (keyId = network.networkEncryptionKeyId) =>
        act((action) => readNetworkKeyOutput(chain, action, keyId, 2));
      return { network, read };
    };
    afterAll(() => Promise.all(networks.map((network) => network.close())));

    test("are the same in every epoch, for every committee", async () => {
      const { network, read } = await started();
      for (let epoch = 2n; epoch < 5n; epoch++) {
        expect(await network.controls.advanceEpoch()).toBe(epoch);
        expect(bytesToHex(await read())).toBe(bytesToHex(NETWORK_OUTPUT));
      }
    });

    test("need no readable DKG output, for the first key or a later one", async () => {
      const { network, read } = await started(NETWORK_OUTPUT, { hasVersion1Dkg: true });
      const newer = await network.controls.rotateNetworkKey();
      for (const keyId of [network.networkEncryptionKeyId, newer])
        expect(bytesToHex(await read(keyId))).toBe(bytesToHex(NETWORK_OUTPUT));
      await network.controls.advanceEpoch();
      await network.controls.advanceEpoch();
      for (const keyId of [network.networkEncryptionKeyId, newer])
        expect(bytesToHex(await read(keyId))).toBe(bytesToHex(NETWORK_OUTPUT));
    });

    test("are refused if DKG and reconfiguration hold different keys", async () => {
      const other = networkParty(new Uint8Array(32).fill(6), undefined).networkDkgPublicOutput();
      const { network, read } = await started(NETWORK_OUTPUT, { reconfigured: other });
      expect(bytesToHex(await read())).toBe(bytesToHex(NETWORK_OUTPUT));
      await network.controls.advanceEpoch();
      await expect(read()).rejects.toMatchObject({
        reason: "PARAMETERS_MISMATCH",
        message: "the network key's outputs hold different shares or keys",
      });
    });
  });

  const unsupported = { reason: "NETWORK_UNSUPPORTED" };
  const mismatch = { reason: "PARAMETERS_MISMATCH" };
  test.each([
    ["is for other curves", withKey({ supported_curves: [0, 1] }), mismatch],
    [
      "has no output yet",
      withKey({ network_dkg_public_output: { id: `0x${"1".repeat(64)}`, size: 0 } }),
      mismatch,
    ],
    [
      "has an output beyond all bounds",
      withKey({ network_dkg_public_output: { id: `0x${"1".repeat(64)}`, size: 2n ** 60n } }),
      mismatch,
    ],
    ["has chunks beyond all bounds", withChunks(() => new Uint8Array(3 * 1024 * 1024)), mismatch],
    ["lacks a chunk", withChunks((value, index) => (index === 1n ? undefined : value)), mismatch],
    [
      "has an output with one flipped bit in a form",
      withChunks((value, index) => (index === 0n ? value.with(10, value[10]! ^ 1) : value)),
      mismatch,
    ],
    [
      "has an output that is cut",
      withChunks((value, index) => (index === 1n ? value.subarray(1) : value)),
      mismatch,
    ],
    [
      "has an output of version 1",
      withChunks((value, index) => (index === 0n ? value.with(0, 0) : value)),
      { ...unsupported, message: expect.stringContaining("wait for the network's next epoch") },
    ],
    [
      "has an output of version 5",
      withChunks((value, index) => (index === 0n ? value.with(0, 4) : value)),
      { ...unsupported, message: expect.stringContaining("version 5") },
    ],
  ])("of a key that %s are refused", async (_, change, reason) => {
    await expect(load(chainOf(lying(honest, change)))).rejects.toMatchObject(reason);
  });

  test("are refused for an object that is not in the coordinator's table", async () => {
    const unlisted = lying(honest, (object) => (object.type.includes("Wrapper<") ? undefined : object));
    await expect(load(chainOf(unlisted))).rejects.toMatchObject(mismatch);
    await expect(load(chainOf(honest), `0x${"3".repeat(64)}`)).rejects.toMatchObject(mismatch);
    const coordinator = net.ikaConfig.objects.ikaDWalletCoordinator.objectID;
    await expect(load(chainOf(honest), coordinator)).rejects.toMatchObject({ reason: "OBJECT_MISMATCH" });
  });

  test("are refused if a fullnode forges one chunk of the output", async () => {
    const forged = lying(
      honest,
      withChunks((value, index) => (index === 0n ? value.with(10, value[10]! ^ 1) : value)),
    );
    const loaded = act(async (action) => {
      const source = createChainParameters(chainOf(honest, forged), engine);
      return await source.load(action, {
        curve: "ED25519",
        networkEncryptionKeyId: net.networkEncryptionKeyId,
      });
    }, 2000);
    await expect(loaded).rejects.toMatchObject({ reason: "FULLNODES_DISAGREE", metadata: { fullnode: "2" } });
  });
});

test("parameters of the service with one bit of randomness are never used to encrypt", SLOW, async () => {
  // Bits of the group's order, of a sample, and of a proof's response: the second number is the one that hides the
  // share.
  const forged = Buffer.from(buildProtocolParameters(2, NETWORK_OUTPUT));
  const space = Buffer.from(hexToBytes("00060000ed020000fe040000"));
  expect(forged.includes(space)).toBe(true);
  for (let at = forged.indexOf(space); at >= 0; at = forged.indexOf(space, at + 1))
    forged.writeUint32LE(1, at + 4);
  const called: string[] = [];
  const transport = createRouterTransport(({ service }) => {
    const { packages, objects } = net.ikaConfig;
    const shared = ({ objectID: objectId, initialSharedVersion }: typeof objects.ikaSystemObject) => ({
      objectId,
      initialSharedVersion: BigInt(initialSharedVersion),
    });
    const seed = new Uint8Array(32).fill(9);
    service(Onboarding, {
      getNetwork: () => ({
        network: "localnet",
        fullnodeUrl: net.url,
        senderAddresses: [`0x${"a".repeat(64)}`],
        networkEncryptionKeyId: net.networkEncryptionKeyId,
        networkEncryptionKeyIds: [net.networkEncryptionKeyId],
        ikaConfig: {
          ...packages,
          ikaSystemObject: shared(objects.ikaSystemObject),
          ikaDwalletCoordinator: shared(objects.ikaDWalletCoordinator),
        },
        protocolParameters: [
          { curve: Curve.ED25519, sha256: sha256(forged), sizeBytes: BigInt(forged.length) },
        ],
      }),
      async *getProtocolParameters() {
        called.push("getProtocolParameters");
        yield { contentType: "application/octet-stream", data: forged };
      },
      registerEncryptionKey: ({ curve }) => ({
        curve,
        signerAddress: deriveUserKeys(seed, "ED25519").signerAddress,
      }),
    });
  });
  let used: string | undefined;
  const stopping = {
    ...engine,
    deriveUserKeys: async () => deriveUserKeys(new Uint8Array(32).fill(9), "ED25519"),
    prepareDkg: async ({ parameters }) => {
      used = sha256(parameters);
      throw new Error("far enough");
    },
  } satisfies CryptoEngine;
  const client = createClient({
    baseUrl: "http://service.invalid",
    apiKey: "k",
    network: "localnet",
    transport,
    engine: stopping,
  });
  await client.onboard({ seed: new Uint8Array(32).fill(9), curve: "ED25519" }).catch(() => undefined);
  expect(used).toBe(EXPECTED);
  expect(called).toEqual([]);
});
