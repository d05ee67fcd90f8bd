import { moveAbort } from "../../fullnode/execution/failures.ts";
import type { NetworkAddresses } from "../addresses.ts";

/** The abort codes of the Treasury's package, by module and name. */
export const TREASURY_ABORTS = {
  "treasury:WrongVersion": 1,
  "treasury:Paused": 2,
  "treasury:WrongTreasury": 3,
  "treasury:PriceCeiling": 4,
  "treasury:Insufficient": 5,
  "treasury:BadBatch": 6,
  "treasury:NothingToMigrate": 7,
  "treasury:WrongCurve": 8,
  "operators:UnknownOperator": 1,
  "operators:WrongHolder": 2,
  "operators:Expired": 3,
  "operators:OverLimit": 4,
  "operators:TooMany": 5,
  "roles:NotAdmin": 1,
  "roles:NotPauser": 2,
  "roles:NotRecovery": 3,
  "roles:NotOffered": 4,
  "roles:TooEarly": 5,
  "custody:UnknownDWallet": 1,
  "custody:UnknownPresign": 2,
  "custody:Refused": 3,
  "custody:NotAnnounced": 4,
  "custody:Announced": 5,
  "custody:TooEarly": 6,
  "custody:BadConsent": 7,
  "custody:Expired": 8,
  "custody:WrongNonce": 9,
  "custody:TooManyAnnounced": 10,
  "custody:TooLate": 11,
  "custody:WrongKind": 12,
  "custody:UnknownHalf": 13,
  "custody:TooManyHalves": 14,
  "custody:BadPeriod": 15,
} as const;

/** Throws an abort of the Treasury's package, in a function such as `custody::leave`. */
export function abortTreasury(
  { addresses }: { readonly addresses: NetworkAddresses },
  functionName: `${string}::${string}`,
  reason: keyof typeof TREASURY_ABORTS,
): never {
  throw moveAbort(`${addresses.treasuryPackageId}::${functionName}`, TREASURY_ABORTS[reason]);
}
