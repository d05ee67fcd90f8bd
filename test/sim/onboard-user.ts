import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import {
  AcceptDWalletRequestSchema,
  CreateDWalletRequestSchema,
  RegisterEncryptionKeyRequestSchema,
} from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../gen/proto/tss/v1/types_pb.ts";
import { acceptDWallet } from "../../src/service/onboarding/accept-dwallet.ts";
import { createDWallet } from "../../src/service/onboarding/create-dwallet.ts";
import { findDWallet } from "../../src/service/onboarding/dwallet-row.ts";
import { registerEncryptionKey } from "../../src/service/onboarding/encryption-keys.ts";
import type { OnboardingCaller, OnboardingDeps } from "../../src/service/onboarding/onboarding-deps.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { dkgOfForm } from "../support/crypto/dkg-form.ts";

/** A user's dWallet on secp256k1, made with a network that does not verify the user's half. */
export interface SimUser {
  readonly dwalletId: string;
  readonly publicKey: Uint8Array;
  /** The signer of the user's encryption key, who owns the dWallet. */
  readonly keypair: Ed25519Keypair;
}

/** Makes a call, and may repeat it with other replicas until one answers. */
export type Caller = <T>(attempt: (deps: OnboardingDeps) => Promise<T>) => Promise<T>;

/** The default time limit of a call, in milliseconds. */
const CALL_MS = 400;

/** Registers a key, makes a dWallet and accepts its share through the code of the calls. */
export async function onboardUser(
  caller: OnboardingCaller,
  call: Caller,
  bytes: (length: number) => Uint8Array = (length) => new Uint8Array(randomBytes(length)),
  callMs = CALL_MS,
): Promise<SimUser> {
  const keypair = Ed25519Keypair.fromSecretKey(bytes(32));
  const encryptionKey = bytes(261);
  const signerPublicKey = keypair.getPublicKey().toRawBytes();
  const key = create(RegisterEncryptionKeyRequestSchema, {
    curve: Curve.SECP256K1,
    encryptionKey,
    signature: await keypair.sign(encryptionKey),
    signerPublicKey,
  });
  const { objectId: encryptionKeyId } = await call((deps) =>
    registerEncryptionKey(deps, caller, key, time(callMs)),
  );
  const objectId = await createDWalletAnew();
  const dwallet = await call(async (deps) => {
    const row = await findDWallet(deps.database, caller, objectId);
    if (row.publicOutput === null) throw new ServiceError("DEADLINE", "the DKG is not done");
    return row;
  });
  const acceptance = create(AcceptDWalletRequestSchema, {
    dwalletId: objectId,
    encryptedUserSecretKeyShareId: dwallet.encryptedUserSecretKeyShareId!,
    userOutputSignature: await keypair.sign(dwallet.publicOutput!),
  });
  await call((deps) => acceptDWallet(deps, caller, acceptance, time(callMs)));
  return { dwalletId: objectId, publicKey: dwallet.publicKey!, keypair };

  /** Repeats the same request. Prepares another one only if the network has a new key. */
  async function createDWalletAnew(): Promise<string> {
    for (;;) {
      const request = create(CreateDWalletRequestSchema, {
        curve: Curve.SECP256K1,
        encryptionKeyId: encryptionKeyId!,
        sessionIdentifier: bytes(32),
        ...dkgOfForm(),
        signerPublicKey,
        senderAddress: await call(async (deps) => deps.network.senderAddress),
        networkEncryptionKeyId: await call(async (deps) => (await deps.reader.networkKey()).id),
      });
      try {
        const { objectId } = await call((deps) => createDWallet(deps, caller, request, time(callMs)));
        return objectId!;
      } catch (error) {
        if (!(error instanceof ServiceError && error.reason === "STALE_NETWORK_KEY")) throw error;
      }
    }
  }
}

/** Returns a new time limit. */
export function time(timeoutMs = CALL_MS) {
  return { timeoutMs, signal: new AbortController().signal };
}
