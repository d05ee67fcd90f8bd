import { checkSeed } from "../../sdk/checks.ts";
import { askPasskey, type PasskeyReference } from "./ask-passkey.ts";
import type { PasskeyOptions } from "./ceremony.ts";
import { sealSeed } from "./wrapped-seed.ts";

/**
 * Wraps a seed for another passkey, which cannot derive it. That passkey, and nothing else, opens the result, so the
 * result may be stored anywhere: with the account on a server, for example. It has about 120 characters. Whoever can
 * change it can only make it useless, or put back an older one of the same passkey.
 *
 * @returns the wrapped seed, for `seedFromPasskey` and `unwrapSeed`
 * @throws {TssError} VALIDATION for a seed that is not 32 bytes, and otherwise like `seedFromPasskey`.
 * @example
 * ```ts
 * const second = await createPasskey({ rpName, userName, excluded: [first] });
 * const wrappedSeed = await wrapSeed({ seed, passkey: second });
 * ```
 */
export async function wrapSeed(
  { seed, passkey, rpId, timeoutMs }: WrapSeedArgs,
  options: PasskeyOptions = {},
): Promise<string> {
  checkSeed(seed);
  // The caller may overwrite its own while the user answers.
  const own = Uint8Array.from(seed);
  try {
    return await askPasskey({ passkeys: [passkey], rpId, timeoutMs }, options, ({ value, credentialId }) =>
      sealSeed(own, value, credentialId),
    );
  } finally {
    own.fill(0);
  }
}

/** Arguments of {@link wrapSeed}. */
export interface WrapSeedArgs {
  /** 32 bytes. */
  readonly seed: Uint8Array;
  /** The passkey that shall open the seed: the result of `createPasskey`. */
  readonly passkey: PasskeyReference;
  /** The domain that owns the passkey, as at its creation. Default: this page's own. */
  readonly rpId?: string | undefined;
  /** The time limit in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}
