/**
 * What Ika's SDK takes ten seconds for, derived by this project in one. Other tests compare the two. At night the SDK
 * derives it.
 */
import { type Curve, type IkaClient, UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { derivePlainUserKeys } from "../../../src/client/crypto/user-keys.ts";
import { curveNumber } from "../../../src/protocol/algorithms.ts";
import { buildProtocolParameters } from "../../../src/protocol/parameters/build-protocol-parameters.ts";
import { environment } from "../../support/environment.ts";
import { noticeClosedConnections } from "./sdk-steps.ts";

/** The keys of a user's seed. */
export async function derivedKeys(seed: Uint8Array, curve: Curve): Promise<UserShareEncryptionKeys> {
  if (environment.isReference) {
    const keys = await UserShareEncryptionKeys.fromRootSeedKey(seed, curve);
    await noticeClosedConnections();
    return keys;
  }
  const { encryptionKey, decryptionKey, signerSecretKey } = derivePlainUserKeys(seed, curve);
  const serialized = SerializedKeys.serialize({
    version: 1,
    encryptionKey,
    decryptionKey,
    secretShareSigningSecretKey: Ed25519Keypair.fromSecretKey(signerSecretKey).getSecretKey(),
    curve: curveNumber(curve),
  });
  return UserShareEncryptionKeys.fromShareEncryptionKeysBytes(serialized.toBytes());
}

/** The SDK's `VersionedUserShareEncryptionKeys`, version 2. */
const SerializedKeys = bcs.struct("UserShareEncryptionKeysV2", {
  version: bcs.u8(),
  encryptionKey: bcs.byteVector(),
  decryptionKey: bcs.byteVector(),
  secretShareSigningSecretKey: bcs.string(),
  curve: bcs.u64(),
});

/** Gives the SDK's client the protocol parameters of a network key. */
export function giveParameters(ika: IkaClient, curve: Curve, networkKeyOutput: Uint8Array): void {
  if (environment.isReference) return;
  const parameters = buildProtocolParameters(curveNumber(curve), networkKeyOutput);
  ika.getProtocolPublicParameters = async () => parameters;
}
