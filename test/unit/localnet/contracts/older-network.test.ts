import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { readInner, updateInner } from "../../../../src/localnet/contracts/coordinator/coordinator-state.ts";
import { chargeSession } from "../../../../src/localnet/contracts/coordinator/payment.ts";
import { Protocol } from "../../../../src/localnet/contracts/coordinator/prices.ts";
import { takePresign } from "../../../../src/localnet/contracts/coordinator/signing/take-presign.ts";
import { balanceOf, createCoin } from "../../../../src/localnet/fullnode/execution/execution-state.ts";
import {
  borrowObject,
  bytesName,
  idName,
  removeField,
} from "../../../../src/localnet/fullnode/objects/dynamic-fields.ts";
import { coinObjectType, SUI_TYPE } from "../../../../src/localnet/fullnode/objects/sui-types.ts";
import { createModelChain } from "./model-chain.ts";
import { createModelNetwork } from "./model-network.ts";

/** The chain of a network that a version made which had neither these prices nor these fields. */

it("a session without a price in an older network's map costs what it costs on a new one", () => {
  const { addresses, transact } = createModelChain();
  transact((state) => {
    updateInner(state, addresses, ({ pricing_and_fee_manager: { current } }) => {
      const { pricing_map: map } = current;
      map.contents = map.contents.filter(({ key }) => [5, 6, 9].includes(key.protocol));
    });
    const ika = createCoin(state, coinObjectType(addresses.ikaCoinType), 100_000_000n);
    const sui = createCoin(state, coinObjectType(SUI_TYPE), 100_000_000n);
    const key = { curve: 0, signatureAlgorithm: undefined, protocol: Protocol.PublicShare };
    expect(chargeSession(state, addresses, key, { ika, sui })).toEqual({ ika: 5_000_000n, sui: 2_000_000n });
    expect(balanceOf(state, ika)).toBe(95_000_000n);
    const unknown = { ...key, curve: 9 };
    expect(() => chargeSession(state, addresses, unknown, { ika, sui })).toThrow(
      "get_pricing_value_for_protocol",
    );
  });
});

it("a global presign without its network key's id serves a dWallet of any key, until the network decides", () => {
  const chain = createModelChain();
  const { addresses, transact, call, objects } = chain;
  const paid = transact((state) => {
    const ids = [addresses.treasuryId, addresses.operatorCapIds[0]!, addresses.coordinatorId];
    const given = ids.map((id) => state.find(id));
    const sessions = [new Uint8Array(32), new Uint8Array(32).fill(1)];
    return call(state, "pay_presigns", [...given, addresses.networkEncryptionKeyId, 0, 0, sessions]);
  });
  createModelNetwork(chain).complete("presign");
  const [ids] = paid.result;
  if (ids?.kind !== "data") throw new Error("pay_presigns returns ids");
  const [older, newer] = bcs.vector(bcs.Address).parse(ids.bytes) as [string, string];
  expect(objects.get(older)).toBeDefined();
  const take = (presignId: string, networkKeyId: string) =>
    transact((state) => {
      const session = state.read(
        borrowObject(state, readInner(state, addresses).presign_sessions, idName(presignId)),
        CoordinatorInnerModule.PresignSession,
      );
      const cap = { id: session.cap_id, dwallet_id: null, presign_id: presignId };
      if (presignId === older) {
        const name = bytesName(utf8ToBytes("dwallet_network_encryption_key_id"));
        removeField(state, { id: presignId, size: "1" }, name);
      }
      return takePresign(state, addresses, "request_sign", cap, networkKeyId).networkKeyId;
    }).result;
  const otherKey = `0x${"9".repeat(64)}`;
  expect(take(older, otherKey)).toBe(undefined);
  expect(() => take(newer, otherKey)).toThrow("14)");
  expect(take(newer, addresses.networkEncryptionKeyId)).toBe(addresses.networkEncryptionKeyId);
});

it("a presign's cap must be the presign's own", () => {
  const chain = createModelChain();
  const { addresses, transact, call } = chain;
  const paid = transact((state) => {
    const ids = [addresses.treasuryId, addresses.operatorCapIds[0]!, addresses.coordinatorId];
    const given = ids.map((id) => state.find(id));
    return call(state, "pay_presigns", [
      ...given,
      addresses.networkEncryptionKeyId,
      0,
      0,
      [new Uint8Array(32)],
    ]);
  });
  const [ids] = paid.result;
  if (ids?.kind !== "data") throw new Error("pay_presigns returns ids");
  const [presignId] = bcs.vector(bcs.Address).parse(ids.bytes) as [string];
  const take = (id: string, dwalletId: string | null) => () =>
    transact((state) => {
      const cap = { id, dwallet_id: dwalletId, presign_id: presignId };
      return takePresign(state, addresses, "request_sign", cap, addresses.networkEncryptionKeyId);
    });
  const code = (run: () => unknown) => {
    try {
      run();
      return undefined;
    } catch (error) {
      return Number((error as { detail: { code: bigint } }).detail.code);
    }
  };
  const stranger = `0x${"8".repeat(64)}`;
  // The presign is not completed yet.
  expect(code(take(stranger, null))).toBe(14);
  createModelNetwork(chain).complete("presign");
  expect(code(take(stranger, null))).toBe(33);
  const capId = transact((state) => {
    const object = borrowObject(state, readInner(state, addresses).presign_sessions, idName(presignId));
    return state.read(object, CoordinatorInnerModule.PresignSession).cap_id;
  }).result;
  expect(code(take(capId, stranger))).toBe(33);
  expect(code(take(capId, null))).toBe(undefined);
});
