import { credentialsHere } from "./ceremony.ts";

/** What a browser says about passkeys before the user is asked. */
export interface PasskeySupport {
  /**
   * Whether the browser passes the extension `prf` on. `unknown` if it does not say: then only a created passkey shows
   * it. `supported` promises nothing about the provider that the user chooses.
   */
  readonly prf: "supported" | "unsupported" | "unknown";
  /** Whether this device itself can hold a passkey and verify its user. Otherwise a phone or a security key can. */
  readonly hasPlatformAuthenticator: boolean;
}

/**
 * Says whether this platform offers passkeys that hold a seed, without asking the user. It never throws, on any
 * platform.
 *
 * @example
 * ```ts
 * const { prf } = await passkeySupport();
 * showPasskeyButton(prf !== "unsupported");
 * ```
 */
export async function passkeySupport(): Promise<PasskeySupport> {
  if (credentialsHere() === undefined) return { prf: "unsupported", hasPlatformAuthenticator: false };
  const platform = PublicKeyCredential as Partial<typeof PublicKeyCredential>;
  const [capabilities, hasPlatformAuthenticator] = await Promise.all([
    orUndefined(() => platform.getClientCapabilities?.()),
    orUndefined(() => platform.isUserVerifyingPlatformAuthenticatorAvailable?.()),
  ]);
  const hasPrf = capabilities?.["extension:prf"];
  return {
    prf: hasPrf === undefined ? "unknown" : hasPrf ? "supported" : "unsupported",
    hasPlatformAuthenticator: hasPlatformAuthenticator ?? false,
  };
}

async function orUndefined<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
