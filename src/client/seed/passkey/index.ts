/**
 * The package's entry `threshold-signing-service/passkey`: a seed that the user's passkey derives, for pages. Other
 * platforms can load it; its calls then throw PASSKEY_UNAVAILABLE.
 */
export { type LocalReason, TssError, type TssErrorReason } from "../../sdk/errors.ts";
export type { PasskeyReference } from "./ask-passkey.ts";
export type { PasskeyOptions } from "./ceremony.ts";
export { type CreatePasskeyArgs, createPasskey, type Passkey } from "./create-passkey.ts";
export { type PasskeySupport, passkeySupport } from "./passkey-support.ts";
export {
  type PasskeySeed,
  type SeedFromPasskeyArgs,
  seedFromPasskey,
  type UnwrapSeedArgs,
  unwrapSeed,
} from "./seed-from-passkey.ts";
export { type WrapSeedArgs, wrapSeed } from "./wrap-seed.ts";
