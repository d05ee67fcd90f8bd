import { invalid } from "../../sdk/checks.ts";
import { askPasskey, type PasskeyAnswer, type PasskeyReference } from "./ask-passkey.ts";
import type { PasskeyOptions } from "./ceremony.ts";
import { deriveSeed } from "./derive-secrets.ts";
import { openWrappedSeed, readWrappedSeed } from "./wrapped-seed.ts";

/**
 * Asks a passkey for the user's seed. The user confirms once, and the passkey verifies the user. The same passkey gives
 * the same seed on every page of its domain, and each other passkey gives another seed. If the answering passkey has one
 * of the `wrappedSeeds`, the result is that seed instead.
 *
 * @throws {TssError} PASSKEY_WITHOUT_PRF when the passkey, its provider or the browser computes no seed, PASSKEY_MISMATCH
 *   when another passkey answers or a wrapped seed was changed, PASSKEY_UNAVAILABLE, PASSKEY_REFUSED, PASSKEY_FAILED,
 *   TIMEOUT, ABORTED, VALIDATION.
 * @example
 * ```ts
 * const { seed } = await seedFromPasskey({ passkeys: [passkey], wrappedSeeds });
 * try {
 *   await client.sign({ seed, ...request });
 * } finally {
 *   seed.fill(0);
 * }
 * ```
 */
export async function seedFromPasskey(
  { passkeys, wrappedSeeds = [], rpId, timeoutMs }: SeedFromPasskeyArgs = {},
  options: PasskeyOptions = {},
): Promise<PasskeySeed> {
  if (passkeys?.length === 0) {
    throw invalid("passkeys", "must not be empty; leave it out to let the user choose");
  }
  const wrapped = wrappedSeeds.map(readWrappedSeed);
  const named = passkeys === undefined ? [] : [...passkeys, ...wrapped];
  return await askPasskey({ passkeys: named, rpId, timeoutMs }, options, async (answer) => {
    const own = wrapped.find(({ credentialId }) => credentialId === answer.credentialId);
    if (own === undefined) return toResult(answer, deriveSeed(answer.value), false);
    return toResult(answer, await openWrappedSeed(own, answer.value), true);
  });
}

/**
 * Asks the passkey of a wrapped seed, and no other, for the key that opens it.
 *
 * @throws {TssError} PASSKEY_MISMATCH when the wrapped seed was changed, and otherwise like {@link seedFromPasskey}.
 * @example
 * ```ts
 * const { seed } = await unwrapSeed({ wrappedSeed: await readFromServer("wrapped-seed") });
 * ```
 */
export async function unwrapSeed(
  { wrappedSeed, rpId, timeoutMs }: UnwrapSeedArgs,
  options: PasskeyOptions = {},
): Promise<PasskeySeed> {
  const wrapped = readWrappedSeed(wrappedSeed);
  return await askPasskey({ passkeys: [wrapped], rpId, timeoutMs }, options, async (answer) =>
    toResult(answer, await openWrappedSeed(wrapped, answer.value), true),
  );
}

/** Arguments of {@link seedFromPasskey}. */
export interface SeedFromPasskeyArgs {
  /**
   * The passkeys that may answer, besides those of the wrapped seeds. Without them, the user chooses among all passkeys
   * of the domain: compare the `credentialId` of the result, or the key's address, before the seed makes a new key.
   */
  readonly passkeys?: readonly PasskeyReference[] | undefined;
  /** The results of `wrapSeed` for the user's other passkeys. */
  readonly wrappedSeeds?: readonly string[] | undefined;
  /** The domain that owns the passkey, as at its creation. Default: this page's own. */
  readonly rpId?: string | undefined;
  /** The time limit in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/** Arguments of {@link unwrapSeed}. */
export interface UnwrapSeedArgs {
  /** The result of `wrapSeed`. */
  readonly wrappedSeed: string;
  /** The domain that owns the passkey, as at its creation. Default: this page's own. */
  readonly rpId?: string | undefined;
  /** The time limit in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/** A seed, and the passkey that gave it. */
export interface PasskeySeed {
  /** 32 bytes, for the calls of the client. Overwrite them with `seed.fill(0)` when you no longer need them. */
  readonly seed: Uint8Array;
  /** The id of the passkey that answered, in base64url without padding. */
  readonly credentialId: string;
  /** True if the passkey opened a wrapped seed; false if the seed is the passkey's own. */
  readonly isWrapped: boolean;
  /** True if the provider may copy the passkey to the user's other devices; false if it is lost with its device. */
  readonly isSyncable: boolean;
}

function toResult(answer: PasskeyAnswer, seed: Uint8Array, isWrapped: boolean): PasskeySeed {
  const { credentialId, isSyncable } = answer;
  return { seed, credentialId, isWrapped, isSyncable };
}
