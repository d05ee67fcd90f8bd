import { base64urlnopad } from "@scure/base";
import { invalid } from "../../sdk/checks.ts";
import { TssError } from "../../sdk/errors.ts";
import { type PasskeyOptions, runCeremony } from "./ceremony.ts";
import { PRF_INPUT, SECRET_BYTES } from "./derive-secrets.ts";

/** What names a passkey. It is public; a JSON text keeps it. */
export interface PasskeyReference {
  /** The credential's id, in base64url without padding. */
  readonly credentialId: string;
  /** How the browser reaches the passkey, from its creation. Without them the browser offers all ways. */
  readonly transports?: readonly string[] | undefined;
}

/** A passkey's answer. */
export interface PasskeyAnswer {
  /** The value of the passkey's pseudo-random function, 32 bytes: as secret as the seed. */
  readonly value: Uint8Array;
  readonly credentialId: string;
  readonly isSyncable: boolean;
}

/**
 * Asks one of the passkeys, or any passkey of the site if there are none, for its value, and passes the answer on. The
 * value is overwritten when `use` ends.
 *
 * @throws {TssError} PASSKEY_WITHOUT_PRF when the passkey computes no value, PASSKEY_MISMATCH when another passkey
 *   answers, PASSKEY_REFUSED when the user was not verified, and the errors of {@link runCeremony}.
 */
export async function askPasskey<R>(
  { passkeys, rpId, timeoutMs }: PasskeyQuestion,
  options: PasskeyOptions,
  use: (answer: PasskeyAnswer) => R | Promise<R>,
): Promise<R> {
  const allowCredentials = passkeys.map(describePasskey);
  const credential = await runCeremony({ timeoutMs }, options, (platform, { signal, timeout }) =>
    platform.get({
      signal,
      publicKey: {
        // Nobody verifies the assertion: it is not a login.
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        allowCredentials,
        // A passkey has another function for answers without verification, and so another value.
        userVerification: "required",
        timeout,
        ...(rpId !== undefined && { rpId }),
        // Some platforms refuse evalByCredential, and one input serves all passkeys.
        extensions: { prf: { eval: { first: PRF_INPUT } } },
      },
    }),
  );
  const value = bytesOf(credential.getClientExtensionResults().prf?.results?.first);
  try {
    const { id: credentialId, response } = credential;
    if (passkeys.length > 0 && !passkeys.some((passkey) => passkey.credentialId === credentialId)) {
      throw new TssError("PASSKEY_MISMATCH", "another passkey answered than the named ones", {
        metadata: { credentialId },
      });
    }
    const flags = flagsOf((response as AuthenticatorAssertionResponse).authenticatorData);
    if (!flags.isUserVerified) {
      throw new TssError("PASSKEY_REFUSED", "the passkey answered without verifying the user", {
        metadata: { credentialId },
      });
    }
    if (value?.length !== SECRET_BYTES) throw withoutPrf(credentialId);
    return await use({ value, credentialId, isSyncable: flags.isSyncable });
  } finally {
    value?.fill(0);
  }
}

/** A question to a passkey. */
export interface PasskeyQuestion {
  /** The passkeys that may answer; none for any passkey of the site. */
  readonly passkeys: readonly PasskeyReference[];
  readonly rpId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Creates the error for a passkey that computes no value. */
export function withoutPrf(credentialId: string): TssError {
  return new TssError(
    "PASSKEY_WITHOUT_PRF",
    "this passkey, its provider or this browser does not offer WebAuthn's extension prf: use another passkey",
    { metadata: { credentialId } },
  );
}

/** Describes a passkey to the browser. Refuses one whose id is not base64url. */
export function describePasskey({
  credentialId,
  transports = [],
}: PasskeyReference): PublicKeyCredentialDescriptor {
  return {
    type: "public-key",
    id: readCredentialId(credentialId),
    ...(transports.length > 0 && { transports: transports as AuthenticatorTransport[] }),
  };
}

/** Reads a credential's id: base64url without padding, of 1 to 1,023 bytes. */
export function readCredentialId(credentialId: string): Uint8Array<ArrayBuffer> {
  try {
    const id = Uint8Array.from(base64urlnopad.decode(credentialId));
    if (id.length > 0 && id.length <= 1_023) return id;
  } catch {
    // Said below.
  }
  throw invalid("credentialId", "must be base64url without padding");
}

/** Reads the flags of an authenticator's data: the byte after the 32 bytes that name the site. */
export function flagsOf(authenticatorData: ArrayBuffer): {
  readonly isUserVerified: boolean;
  /** Whether the passkey's provider may copy it to other devices. */
  readonly isSyncable: boolean;
} {
  const flags = new Uint8Array(authenticatorData)[32] ?? 0;
  return { isUserVerified: (flags & 0x04) !== 0, isSyncable: (flags & 0x08) !== 0 };
}

/** The bytes of a passkey's value, without a copy; undefined for anything that is no bytes. */
function bytesOf(first: unknown): Uint8Array | undefined {
  // Providers that replace the browser's own functions return either kind, also from other realms.
  if (ArrayBuffer.isView(first)) return new Uint8Array(first.buffer, first.byteOffset, first.byteLength);
  const isBuffer = Object.prototype.toString.call(first) === "[object ArrayBuffer]";
  return isBuffer ? new Uint8Array(first as ArrayBuffer) : undefined;
}
