import { completeSession } from "../../../../src/localnet/contracts/coordinator/completion/complete-session.ts";
import {
  requestedSequenceNumbers,
  requestedSession,
} from "../../../../src/localnet/contracts/coordinator/completion/requested-session.ts";
import {
  coordinatorTypes,
  DWalletStruct,
  EncryptedShareStruct,
  EncryptionKeyStruct,
  readInner,
  updateInner,
} from "../../../../src/localnet/contracts/coordinator/coordinator-state.ts";
import { findEncryptionKey } from "../../../../src/localnet/contracts/coordinator/encryption-keys.ts";
import { addObject, borrowObject, idName } from "../../../../src/localnet/fullnode/objects/dynamic-fields.ts";
import { userOf } from "../../../../tools/move/consents.ts";
import type { createModelChain } from "./model-chain.ts";

/** Acts as the Ika network and its users on a chain without a fullnode. */
export function createModelNetwork(chain: ReturnType<typeof createModelChain>) {
  const { addresses, transact } = chain;
  return { complete, accept, registeredUser, shareOf };

  /** Completes every open session of a kind, as the network does. */
  function complete(kind: "presign" | "dkg" | "importedKey" | "futureSign"): void {
    for (const number of requestedSequenceNumbers(chain.objects, addresses)) {
      const open = requestedSession(chain.objects, addresses, number);
      if (open?.kind !== kind) continue;
      transact((state) =>
        completeSession(state, addresses, open, { kind: "completed", output: Uint8Array.of(1) }),
      );
    }
  }

  /** Accepts the dWallet, as its user does. */
  function accept(dwalletId: string): void {
    transact((state) => {
      const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(dwalletId));
      state.update(dwallet, DWalletStruct, (value) => {
        value.state = { $kind: "Active", Active: { public_output: [1] } };
      });
    });
  }

  /** The dWallet's first share. */
  function shareOf(dwalletId: string): string {
    const share = [...chain.objects.all()].find(
      ({ type, contents }) =>
        type.endsWith("::EncryptedUserSecretKeyShare") &&
        EncryptedShareStruct.parse(contents).dwallet_id === dwalletId,
    );
    return share!.id;
  }

  /** The address of a user whose encryption key is of this curve. */
  function registeredUser(curve: number): string {
    const { address: user } = userOf(curve);
    transact((state) => {
      if (findEncryptionKey(state, addresses, user) !== undefined) return;
      const id = state.newId();
      const key = { id, curve, created_at_epoch: 1, signer_address: user, encryption_key: [1] };
      const signed = { ...key, encryption_key_signature: [1], signer_public_key: [1] };
      const type = coordinatorTypes(addresses.dwalletPackageId).inner("EncryptionKey");
      const object = state.create({ id, type, contents: EncryptionKeyStruct.serialize(signed).toBytes() });
      updateInner(state, addresses, ({ encryption_keys }) =>
        addObject(state, encryption_keys, idName(user, "address"), object),
      );
    });
    return user;
  }
}
