import type { CreateDWalletRequest } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { invalidField } from "../errors/service-error.ts";
import { curveOfNumber } from "../protocol/algorithms.ts";
import { checkDkgMessage, DkgFormError } from "../protocol/check-dkg-message.ts";

/** Throws VALIDATION, which names the field, if no network would accept the DKG message. */
export function checkDkgForm(curveNumber: number, request: CreateDWalletRequest): void {
  const curve = curveOfNumber(curveNumber);
  if (curve === undefined) throw invalidField("curve", "is not a curve");
  try {
    checkDkgMessage(curve, request);
  } catch (cause) {
    if (!(cause instanceof DkgFormError)) throw cause;
    throw invalidField(FIELDS[cause.part], cause.message);
  }
}

const FIELDS = {
  userDkgMessage: "user_dkg_message",
  encryptedUserShareAndProof: "encrypted_user_share_and_proof",
  userPublicOutput: "user_public_output",
} as const;
