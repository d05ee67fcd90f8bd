import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { describe, expect, test } from "vitest";
import { MalformedBytesError } from "../../../src/protocol/bytes.ts";
import {
  parseDWallet,
  parseEncryptedShare,
  parseEncryptionKey,
  parseNetworkEncryptionKey,
  parsePresignSession,
  parseSignSession,
} from "../../../src/protocol/chain/chain-objects.ts";
import { parsePartialSignature } from "../../../src/protocol/chain/partial-signature.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const table = (digit: string) => ({ id: id(digit), size: "7" });

/** Objects that the Ika SDK encodes and this project reads. */
const dwallet = (state: Parameters<typeof CoordinatorInnerModule.DWalletState.serialize>[0]): Uint8Array =>
  CoordinatorInnerModule.DWallet.serialize({
    id: id("1"),
    created_at_epoch: "3",
    curve: 2,
    public_user_secret_key_share: null,
    dwallet_cap_id: id("2"),
    dwallet_network_encryption_key_id: id("3"),
    is_imported_key_dwallet: false,
    encrypted_user_secret_key_shares: table("4"),
    sign_sessions: table("5"),
    state,
  }).toBytes();

describe("a dWallet", () => {
  test("is read in every state, by the state's name", () => {
    const plain = [
      "DKGRequested",
      "NetworkRejectedDKGRequest",
      "AwaitingNetworkDKGVerification",
      "NetworkRejectedDKGVerification",
      "AwaitingNetworkImportedKeyVerification",
      "NetworkRejectedImportedKeyVerification",
    ] as const;
    for (const kind of plain) {
      const state = { [kind]: true } as Parameters<typeof dwallet>[0];
      expect(parseDWallet(dwallet(state)).state).toEqual({ kind });
    }
    const output = { public_output: [1, 2, 3] };
    expect(
      parseDWallet(dwallet({ AwaitingUserDKGVerificationInitiation: { first_round_output: [9] } })).state,
    ).toEqual({ kind: "AwaitingUserDKGVerificationInitiation" });
    expect(parseDWallet(dwallet({ AwaitingKeyHolderSignature: output })).state).toEqual({
      kind: "AwaitingKeyHolderSignature",
      publicOutput: Uint8Array.of(1, 2, 3),
    });
    expect(parseDWallet(dwallet({ Active: output }))).toEqual({
      id: id("1"),
      curveNumber: 2,
      dwalletCapId: id("2"),
      networkEncryptionKeyId: id("3"),
      isImportedKey: false,
      encryptedShareTableId: id("4"),
      state: { kind: "Active", publicOutput: Uint8Array.of(1, 2, 3) },
    });
  });

  test("that is cut or lengthened is malformed", () => {
    const bytes = dwallet({ Active: { public_output: [1] } });
    expect(() => parseDWallet(bytes.subarray(0, -1))).toThrow(MalformedBytesError);
    expect(() => parseDWallet(Uint8Array.of(...bytes, 0))).toThrow(MalformedBytesError);
    expect(() => parseDWallet(new Uint8Array())).toThrow(MalformedBytesError);
  });
});

test.each([
  "AwaitingNetworkVerification",
  "NetworkVerificationCompleted",
  "NetworkVerificationRejected",
] as const)("a partial signature is read in the state %s", (stateKind) => {
  const bytes = CoordinatorInnerModule.PartialUserSignature.serialize({
    id: id("1"),
    created_at_epoch: 1,
    presign_cap: { id: id("2"), dwallet_id: id("3"), presign_id: id("4") },
    dwallet_id: id("5"),
    cap_id: id("6"),
    curve: 2,
    signature_algorithm: 0,
    hash_scheme: 0,
    message: [7],
    message_centralized_signature: [8, 9],
    state: { [stateKind]: true } as { AwaitingNetworkVerification: true },
  }).toBytes();
  expect(parsePartialSignature(bytes)).toEqual({
    id: id("1"),
    dwalletId: id("5"),
    presignId: id("4"),
    message: Uint8Array.of(7),
    userSignMessage: Uint8Array.of(8, 9),
    stateKind,
  });
  expect(() => parsePartialSignature(bytes.subarray(1))).toThrow(MalformedBytesError);
});

test("an encrypted share is read in each state", () => {
  const share = (state: object): Uint8Array =>
    CoordinatorInnerModule.EncryptedUserSecretKeyShare.serialize({
      id: id("1"),
      created_at_epoch: 1,
      dwallet_id: id("2"),
      encrypted_centralized_secret_share_and_proof: [4, 5],
      encryption_key_id: id("3"),
      encryption_key_address: id("4"),
      source_encrypted_user_secret_key_share_id: null,
      state: state as never,
    }).toBytes();
  for (const kind of [
    "AwaitingNetworkVerification",
    "NetworkVerificationCompleted",
    "NetworkVerificationRejected",
  ]) {
    expect(parseEncryptedShare(share({ [kind]: true })).state).toEqual({ kind });
  }
  expect(parseEncryptedShare(share({ KeyHolderSigned: { user_output_signature: [8] } }))).toEqual({
    id: id("1"),
    dwalletId: id("2"),
    encryptedShareAndProof: Uint8Array.of(4, 5),
    encryptionKeyId: id("3"),
    encryptionKeyAddress: id("4"),
    sourceShareId: undefined,
    state: { kind: "KeyHolderSigned", userOutputSignature: Uint8Array.of(8) },
  });
});

test("presign and sign sessions are read in each state", () => {
  const presign = (state: object, dwalletId: string | null): Uint8Array =>
    CoordinatorInnerModule.PresignSession.serialize({
      id: id("1"),
      created_at_epoch: 1,
      curve: 0,
      signature_algorithm: 1,
      dwallet_id: dwalletId,
      cap_id: id("3"),
      state: state as never,
    }).toBytes();
  const sign = (state: object): Uint8Array =>
    CoordinatorInnerModule.SignSession.serialize({
      id: id("1"),
      created_at_epoch: 1,
      dwallet_id: id("2"),
      state: state as never,
    }).toBytes();
  expect(parsePresignSession(presign({ Completed: { presign: [1] } }, null))).toEqual({
    id: id("1"),
    curveNumber: 0,
    signatureAlgorithmNumber: 1,
    dwalletId: undefined,
    capId: id("3"),
    state: { kind: "Completed", output: Uint8Array.of(1) },
  });
  expect(parsePresignSession(presign({ Requested: true }, id("2"))).dwalletId).toBe(id("2"));
  expect(parsePresignSession(presign({ NetworkRejected: true }, null)).state).toEqual({
    kind: "NetworkRejected",
  });
  expect(parseSignSession(sign({ Requested: true })).state).toEqual({ kind: "Requested" });
  expect(parseSignSession(sign({ NetworkRejected: true })).state).toEqual({ kind: "NetworkRejected" });
  expect(parseSignSession(sign({ Completed: { signature: [7] } }))).toEqual({
    id: id("1"),
    dwalletId: id("2"),
    state: { kind: "Completed", output: Uint8Array.of(7) },
  });
});

test("encryption keys of users and of the network are read", () => {
  const user = CoordinatorInnerModule.EncryptionKey.serialize({
    id: id("1"),
    created_at_epoch: 1,
    curve: 3,
    encryption_key: [1],
    encryption_key_signature: [2],
    signer_public_key: [3],
    signer_address: id("4"),
  }).toBytes();
  expect(parseEncryptionKey(user)).toEqual({
    id: id("1"),
    curveNumber: 3,
    encryptionKey: Uint8Array.of(1),
    signature: Uint8Array.of(2),
    signerPublicKey: Uint8Array.of(3),
    signerAddress: id("4"),
  });
  const network = CoordinatorInnerModule.DWalletNetworkEncryptionKey.serialize({
    id: id("1"),
    dkg_at_epoch: "5",
    network_dkg_public_output: { contents: table("2") },
    reconfiguration_public_outputs: table("3"),
    dkg_params_for_network: [],
    supported_curves: [0, 1, 2, 3],
    state: { NetworkDKGCompleted: true },
  }).toBytes();
  expect(parseNetworkEncryptionKey(network)).toEqual({
    id: id("1"),
    dkgAtEpoch: 5n,
    networkDkgOutputTableId: id("2"),
    networkDkgOutputChunkCount: 7n,
    reconfigurationOutputsTableId: id("3"),
    supportedCurveNumbers: [0, 1, 2, 3],
    stateKind: "NetworkDKGCompleted",
  });
});
