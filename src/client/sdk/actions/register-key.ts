import type { EncryptionKey } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import type { UserKeys } from "../../crypto/engine.ts";
import type { Action } from "../action.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import { protoCurve } from "../names.ts";

/** Registers the user's encryption key with the service, for one user of the project or none. */
export async function registerKey(
  context: ClientContext,
  action: Action,
  keys: UserKeys,
  userReference: string | undefined,
): Promise<EncryptionKey> {
  const { encryptionKey, signerPublicKey } = keys;
  const registration = {
    curve: protoCurve(keys.curve),
    encryptionKey,
    signature: await context.engine.signAsUser({
      signerSecretKey: keys.signerSecretKey,
      message: encryptionKey,
      signal: action.signal,
    }),
    signerPublicKey,
    ...(userReference !== undefined && { userReference }),
  };
  const registered = await context.call(action, (callOptions) =>
    context.raw.onboarding.registerEncryptionKey(registration, callOptions),
  );
  if (registered.signerAddress !== keys.signerAddress) {
    throw new TssError("OUTPUT_MISMATCH", "the service registered the key for another signer");
  }
  return registered;
}
