import { type FunctionTable, functionTable, type MoveFunction } from "../fullnode/move-function.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { acceptShareFunctions } from "./coordinator/accept-share.ts";
import { assertCoordinatorVersion } from "./coordinator/coordinator-state.ts";
import { dkgFunctions } from "./coordinator/dkg.ts";
import { encryptionKeyFunctions } from "./coordinator/encryption-keys.ts";
import { presignFunctions } from "./coordinator/presign.ts";
import { sessionAndViewFunctions } from "./coordinator/read.ts";
import { signFunctions } from "./coordinator/sign.ts";
import { frameworkFunctions } from "./framework/framework-functions.ts";
import { adminFunctions, publicFunctions } from "./treasury/admin-functions.ts";
import { operatorFunctions } from "./treasury/operator-functions.ts";
import { releaseFunctions } from "./treasury/release-functions.ts";

/** Every Move function that the network's transactions may call. */
export function networkFunctions(addresses: NetworkAddresses): FunctionTable {
  const coordinator = [
    ...sessionAndViewFunctions(addresses),
    ...encryptionKeyFunctions(addresses),
    ...dkgFunctions(addresses),
    ...acceptShareFunctions(addresses),
    ...presignFunctions(addresses),
    ...signFunctions(addresses),
  ];
  return functionTable([
    ...frameworkFunctions(),
    ...coordinator.map((called) => ofOneVersion(called, addresses)),
    ...publicFunctions(addresses),
    ...adminFunctions(addresses),
    ...releaseFunctions(addresses),
    ...operatorFunctions(addresses),
  ]);
}

/** A function of the coordinator, which aborts when Ika has moved the coordinator to another version. */
function ofOneVersion(called: MoveFunction, addresses: NetworkAddresses): MoveFunction {
  return {
    ...called,
    run(call, args) {
      assertCoordinatorVersion(call.state, addresses);
      return called.run(call, args);
    },
  };
}
