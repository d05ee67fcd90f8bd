import type { CryptoEngine } from "../../../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { deriveUserKeys } from "../../../../src/client/crypto/user-keys.ts";
import { type MadeDWallet, makeDWallet, makeImportedDWallet } from "../../../support/crypto/made-dwallet.ts";
import { vectorOf } from "../../../support/crypto/signature-vectors.ts";

/** The user's half of a signature, which the fake service accepts unchecked. */
const VECTOR = vectorOf("EdDSA");

/** An engine that puts the dWallet of its DKG, or of its import, on the chain. */
export function fakeEngine(
  calls: string[],
  script: { made: MadeDWallet; readonly decryptedShare: Uint8Array },
  seed: Uint8Array,
): CryptoEngine {
  return {
    ...createInlineEngine(),
    async deriveUserKeys() {
      calls.push("deriveUserKeys");
      return deriveUserKeys(seed, "ED25519");
    },
    async prepareDkg({ userSecretKeyShare }) {
      calls.push("prepareDkg");
      script.made = makeDWallet(userSecretKeyShare.reveal().slice());
      return {
        userDkgMessage: Uint8Array.of(1),
        userPublicOutput: script.made.userPublicOutput,
        encryptedUserShareAndProof: Uint8Array.of(2),
      };
    },
    async prepareImport({ userSecretKeyShare, privateKey }) {
      calls.push("prepareImport");
      script.made = makeImportedDWallet(userSecretKeyShare.reveal().slice(), privateKey.reveal());
      return {
        userDkgMessage: Uint8Array.of(3),
        userPublicOutput: script.made.userPublicOutput,
        encryptedUserShareAndProof: Uint8Array.of(2),
      };
    },
    async decryptShare() {
      calls.push("decryptShare");
      return new SecretBytes(script.decryptedShare.slice());
    },
    async createSignMessage() {
      calls.push("createSignMessage");
      return VECTOR.userSignMessage!;
    },
  };
}
