import { invalid } from "../../sdk/checks.ts";
import { TssError } from "../../sdk/errors.ts";
import { describePasskey, flagsOf, type PasskeyReference, withoutPrf } from "./ask-passkey.ts";
import { type PasskeyOptions, runCeremony } from "./ceremony.ts";

/**
 * Creates a passkey that can hold a seed. The user confirms once. The seed itself comes from {@link seedFromPasskey},
 * with another confirmation: some providers compute a value when they create a passkey and none, or another one, later.
 * Call each of the two from a click, because browsers refuse questions that no click asked for.
 *
 * @throws {TssError} PASSKEY_WITHOUT_PRF when the new passkey can hold no seed (the call then asks the provider to
 *   remove it), PASSKEY_EXISTS when the device has one of the `excluded` passkeys, PASSKEY_UNAVAILABLE, PASSKEY_REFUSED,
 *   PASSKEY_FAILED, TIMEOUT, ABORTED, VALIDATION.
 * @example
 * ```ts
 * const passkey = await createPasskey({ rpName: "Example Wallet", userName: "ada@example.com" });
 * localStorage.setItem("passkey", JSON.stringify(passkey)); // it is public
 * // From the next click:
 * const { seed } = await seedFromPasskey({ passkeys: [passkey] });
 * ```
 */
export async function createPasskey(args: CreatePasskeyArgs, options: PasskeyOptions = {}): Promise<Passkey> {
  const { rpId, rpName, userName, userDisplayName = userName, excluded = [] } = args;
  checkText("rpName", rpName);
  checkText("userName", userName);
  checkText("userDisplayName", userDisplayName);
  const userHandle = args.userHandle ?? crypto.getRandomValues(new Uint8Array(32));
  if (!(userHandle instanceof Uint8Array) || userHandle.length < 1 || userHandle.length > 64) {
    throw invalid("userHandle", "must be 1 to 64 bytes");
  }
  const excludeCredentials = excluded.map(describePasskey);
  const refusedAs = { InvalidStateError: exists };
  const { timeoutMs, authenticatorAttachment } = args;
  const credential = await runCeremony({ timeoutMs, refusedAs }, options, (platform, { signal, timeout }) =>
    platform.create({
      signal,
      publicKey: {
        rp: { name: rpName, ...(rpId !== undefined && { id: rpId }) },
        user: { id: Uint8Array.from(userHandle), name: userName, displayName: userDisplayName },
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        // ES256 and RS256, which some TPMs need. The key signs nothing here.
        pubKeyCredParams: [-7, -257].map((alg) => ({ type: "public-key", alg })),
        excludeCredentials,
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
          ...(authenticatorAttachment !== undefined && { authenticatorAttachment }),
        },
        attestation: "none",
        timeout,
        extensions: { prf: {} },
      },
    }),
  );
  const { id: credentialId } = credential;
  if (credential.getClientExtensionResults().prf?.enabled !== true) {
    await forget(rpId, credentialId);
    throw withoutPrf(credentialId);
  }
  const response = credential.response as Partial<AuthenticatorAttestationResponse>;
  const authenticatorData = response.getAuthenticatorData?.();
  return {
    credentialId,
    transports: response.getTransports?.() ?? [],
    isSyncable: authenticatorData === undefined ? undefined : flagsOf(authenticatorData).isSyncable,
  };
}

/** Arguments of {@link createPasskey}. */
export interface CreatePasskeyArgs {
  /** The name of the site or program, which the user sees. */
  readonly rpName: string;
  /** The account's name, which the user sees when choosing between passkeys: an e-mail address, for example. */
  readonly userName: string;
  /** A friendlier name of the account. Default: `userName`. */
  readonly userDisplayName?: string | undefined;
  /**
   * The domain that owns the passkey: this page's own, the default, or a parent of it. Every page of that domain and of
   * its subdomains may ask for the seed, so choose the narrowest. The passkey is lost with the domain.
   */
  readonly rpId?: string | undefined;
  /**
   * 1 to 64 bytes that identify the account, without personal data. Default: 32 random bytes, so that no passkey has the
   * same. A provider replaces its passkey of the same handle and domain by the new one, and the old seed is then lost.
   */
  readonly userHandle?: Uint8Array | undefined;
  /** Passkeys of which the device must have none. List the user's passkeys, so that a second one is on another device. */
  readonly excluded?: readonly PasskeyReference[] | undefined;
  /** `platform` for this device, `cross-platform` for a security key or a phone. Default: the user chooses. */
  readonly authenticatorAttachment?: "platform" | "cross-platform" | undefined;
  /** The time limit in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/** A created passkey. It is public; keep it, so that the user need not choose between passkeys. */
export interface Passkey extends PasskeyReference {
  readonly transports: readonly string[];
  /**
   * True if the provider may copy the passkey to the user's other devices; false if it is lost with its device.
   * Undefined where the browser does not say.
   */
  readonly isSyncable: boolean | undefined;
}

function exists(): TssError {
  return new TssError(
    "PASSKEY_EXISTS",
    "the device has one of the excluded passkeys: ask that one, or use another device",
  );
}

function checkText(field: string, text: string): void {
  if (typeof text !== "string" || text === "") throw invalid(field, "must be a text that is not empty");
}

/** Asks the provider to remove a passkey that can hold no seed, where the browser can. */
async function forget(rpId: string | undefined, credentialId: string): Promise<void> {
  try {
    await PublicKeyCredential.signalUnknownCredential({ rpId: rpId ?? location.hostname, credentialId });
  } catch {
    // A browser without this function, or a failure: the user can remove the passkey by hand.
  }
}
