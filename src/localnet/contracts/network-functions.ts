import { type FunctionTable, functionTable } from "../fullnode/move-function.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { acceptShareFunctions } from "./coordinator/accept-share.ts";
import { dkgFunctions } from "./coordinator/dkg.ts";
import { encryptionKeyFunctions } from "./coordinator/encryption-keys.ts";
import { presignFunctions } from "./coordinator/presign.ts";
import { sessionAndViewFunctions } from "./coordinator/read.ts";
import { signFunctions } from "./coordinator/sign.ts";
import { frameworkFunctions } from "./framework/framework-functions.ts";
import { adminFunctions, publicFunctions } from "./treasury/admin-functions.ts";
import { operatorFunctions } from "./treasury/operator-functions.ts";

/** Every Move function that the network's transactions may call. */
export function networkFunctions(addresses: NetworkAddresses): FunctionTable {
  return functionTable([
    ...frameworkFunctions(),
    ...sessionAndViewFunctions(addresses),
    ...encryptionKeyFunctions(addresses),
    ...dkgFunctions(addresses),
    ...acceptShareFunctions(addresses),
    ...presignFunctions(addresses),
    ...signFunctions(addresses),
    ...publicFunctions(addresses),
    ...adminFunctions(addresses),
    ...operatorFunctions(addresses),
  ]);
}
