import { readFileSync } from "node:fs";
import { fromBase58 } from "@mysten/sui/utils";
import { deriveUserKeys, signAsOwner } from "../../client/crypto/user-keys.ts";
import {
  fromAuthorization,
  type SignedTreasuryConsent,
} from "../../client/sdk/custody/treasury-authorization.ts";
import { curveOfNumber } from "../../protocol/algorithms.ts";
import {
  custodyPlaces,
  parseHeldDWallet,
  parseNextNonce,
  type TreasuryConsent,
  treasuryConsentBytes,
} from "../../protocol/chain/treasury-custody.ts";
import { UsageError } from "../command-line/command.ts";
import { readSeedFile } from "./key-files.ts";
import type { OpenTreasury } from "./open-treasury.ts";

/**
 * Returns the signed consent of a dWallet's owner: from a file, or signed here with the user's seed. Throws if it is
 * for another Treasury, chain or action.
 */
export async function findConsent(
  treasury: OpenTreasury,
  action: TreasuryConsent["action"],
  values: ConsentValues,
): Promise<SignedTreasuryConsent> {
  if ((values.authorization === undefined) === (values.seedFile === undefined))
    throw new UsageError("either --authorization or --seed-file is needed");
  const consent =
    values.authorization === undefined
      ? await signHere(treasury, action, values)
      : readAuthorization(values.authorization);
  if (consent.action !== action)
    throw new Error(`the authorization is to ${consent.action}, not to ${action}`);
  if (consent.treasuryId !== treasury.treasuryId)
    throw new Error(`the authorization is for the Treasury ${consent.treasuryId}: name it with --treasury`);
  if (Buffer.compare(consent.chain, fromBase58(treasury.chainIdentifier)) !== 0)
    throw new Error("the authorization is for another chain");
  return consent;
}

/** The option values of a command that uses a consent. */
export interface ConsentValues {
  readonly authorization: string | undefined;
  readonly seedFile: string | undefined;
  readonly dwallet: string | undefined;
  readonly recipient: string | undefined;
  readonly validFor: number | undefined;
}

const MAX_FILE_BYTES = 10_000;
const DEFAULT_VALID_EPOCHS = 7;

function readAuthorization(file: string): SignedTreasuryConsent {
  const text = readFileSync(file, "utf8");
  if (text.length > MAX_FILE_BYTES) throw new Error(`${file} is too long for an authorization`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON`);
  }
  return fromAuthorization(value as Parameters<typeof fromAuthorization>[0]);
}

async function signHere(
  { client, chainIdentifier, treasuryId }: OpenTreasury,
  action: TreasuryConsent["action"],
  { seedFile = "", dwallet: dwalletId, recipient, validFor = DEFAULT_VALID_EPOCHS }: ConsentValues,
): Promise<SignedTreasuryConsent> {
  if (dwalletId === undefined) throw new UsageError("--dwallet is missing");
  if (action === "leave" && recipient === undefined) throw new UsageError("--recipient is missing");
  const seed = readSeedFile(seedFile);
  const { object } = await client.core.getObject({ objectId: treasuryId, include: { content: true } });
  const { dwalletEntryId, nonceEntryId } = custodyPlaces(object.content, dwalletId);
  const { objects } = await client.core.getObjects({
    objectIds: [dwalletEntryId, nonceEntryId],
    include: { content: true },
  });
  const [entry, nonce] = objects.map((found) => (found instanceof Error ? undefined : found.content));
  if (entry === undefined) throw new Error(`the Treasury does not hold the dWallet ${dwalletId}`);
  const { owner, curveNumber } = parseHeldDWallet(entry);
  const curve = curveOfNumber(curveNumber);
  if (curve === undefined) throw new Error(`the dWallet is on the unknown curve ${curveNumber}`);
  const keys = deriveUserKeys(seed, curve);
  seed.fill(0);
  try {
    if (keys.signerAddress !== owner)
      throw new Error(`the dWallet's owner is ${owner}, and the seed's address is ${keys.signerAddress}`);
    const { systemState } = await client.core.getCurrentSystemState();
    const consent: TreasuryConsent = {
      action,
      chain: fromBase58(chainIdentifier),
      treasuryId,
      dwalletId,
      nonce: parseNextNonce(nonce),
      expiresEpoch: BigInt(systemState.epoch) + BigInt(validFor),
      ...(recipient !== undefined && { recipient }),
    };
    const { signerPublicKey: publicKey } = keys;
    return { ...consent, publicKey, signature: signAsOwner(keys, treasuryConsentBytes(consent)) };
  } finally {
    keys.destroy();
  }
}
