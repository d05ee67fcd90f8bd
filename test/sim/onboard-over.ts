import { randomBytes } from "node:crypto";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { dkgOfForm } from "../support/crypto/dkg-form.ts";
import type { ProtocolClient } from "../support/service/protocol-clients.ts";
import { base64, dwalletIn, fromBase64 } from "../support/service/user.ts";

/**
 * Makes a dWallet on secp256k1 over one protocol, with a network that does not verify the user's half. Returns its id.
 */
export async function onboardOverSim(client: ProtocolClient): Promise<string> {
  const keypair = Ed25519Keypair.generate();
  const [curve, encryptionKey] = ["SECP256K1", random(261)];
  const signerPublicKey = base64(keypair.getPublicKey().toRawBytes());
  const network = await client.call("GetNetwork", {});
  const { encryptionKeyId } = await client.call("RegisterEncryptionKey", {
    curve,
    encryptionKey: base64(encryptionKey),
    signature: base64(await keypair.sign(encryptionKey)),
    signerPublicKey,
  });
  const dkg = dkgOfForm();
  const { dwalletId } = await client.call("CreateDWallet", {
    curve,
    encryptionKeyId: encryptionKeyId!,
    networkEncryptionKeyId: network["networkEncryptionKeyId"]!,
    senderAddress: (network["senderAddresses"] as string[])[0]!,
    sessionIdentifier: base64(random(32)),
    userDkgMessage: base64(dkg.userDkgMessage),
    encryptedUserShareAndProof: base64(dkg.encryptedUserShareAndProof),
    userPublicOutput: base64(dkg.userPublicOutput),
    signerPublicKey,
  });
  const waiting = await dwalletIn(client, dwalletId!, "AwaitingKeyHolderSignature");
  await client.call("AcceptDWallet", {
    dwalletId: dwalletId!,
    encryptedUserSecretKeyShareId: waiting["encryptedUserSecretKeyShareId"]!,
    userOutputSignature: base64(await keypair.sign(fromBase64(waiting["publicOutput"]))),
  });
  await dwalletIn(client, dwalletId!, "Active");
  return String(dwalletId);
}

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));
