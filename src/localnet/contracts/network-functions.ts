import { type FunctionTable, functionTable, type MoveFunction } from "../fullnode/execution/move-function.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { acceptShareFunctions } from "./coordinator/accept-share.ts";
import { approvalFunctions } from "./coordinator/approve-message.ts";
import { assertCoordinatorVersion } from "./coordinator/coordinator-state.ts";
import { dkgFunctions } from "./coordinator/dkg.ts";
import { encryptionKeyFunctions } from "./coordinator/encryption-keys.ts";
import { futureSignFunctions } from "./coordinator/future-sign.ts";
import { importedKeyFunctions } from "./coordinator/imported-key.ts";
import { presignFunctions } from "./coordinator/presign.ts";
import { sessionAndViewFunctions } from "./coordinator/read.ts";
import { shareFunctions } from "./coordinator/share-requests.ts";
import { signFunctions } from "./coordinator/sign.ts";
import { signDuringDkgFunctions } from "./coordinator/sign-during-dkg.ts";
import { signWithPartialFunctions } from "./coordinator/sign-with-partial.ts";
import { subsidyFunctions } from "./coordinator/subsidies.ts";
import { balanceFunctions } from "./framework/balance-functions.ts";
import { frameworkFunctions } from "./framework/framework-functions.ts";
import { adminFunctions } from "./treasury/admin-functions.ts";
import { custodyFunctions } from "./treasury/custody-functions.ts";
import { operatorFunctions } from "./treasury/operators.ts";
import { publicFunctions } from "./treasury/public-functions.ts";
import { publishTreasury } from "./treasury/treasury-genesis.ts";
import { userFunctions } from "./treasury/user-functions.ts";

/** Returns every Move function that the network's transactions may call. */
export function networkFunctions(addresses: NetworkAddresses): FunctionTable {
  const coordinator = [
    ...sessionAndViewFunctions(addresses),
    ...encryptionKeyFunctions(addresses),
    ...signDuringDkgFunctions(addresses),
    ...dkgFunctions(addresses),
    ...acceptShareFunctions(addresses),
    ...importedKeyFunctions(addresses),
    ...presignFunctions(addresses),
    ...approvalFunctions(addresses),
    ...signFunctions(addresses),
    ...futureSignFunctions(addresses),
    ...signWithPartialFunctions(addresses),
    ...shareFunctions(addresses),
    ...subsidyFunctions(addresses),
  ];
  return functionTable(
    [
      ...frameworkFunctions(),
      ...balanceFunctions(),
      ...coordinator.map((called) => ofOneVersion(called, addresses)),
      ...treasuryFunctions(addresses),
    ],
    {
      publish: (call, modules, dependencies) => publishTreasury(addresses, call, { modules, dependencies }),
      functionsOf: (treasuryPackageId) =>
        functionTable(treasuryFunctions({ ...addresses, treasuryPackageId })),
    },
  );
}

/** Returns the functions of the Treasury's package at `addresses.treasuryPackageId`. */
function treasuryFunctions(addresses: NetworkAddresses): MoveFunction[] {
  return [
    ...publicFunctions(addresses),
    ...adminFunctions(addresses),
    ...custodyFunctions(addresses),
    ...userFunctions(addresses),
    ...operatorFunctions(addresses),
  ];
}

/** Wraps a function of the coordinator so that it aborts if Ika has migrated the coordinator to another version. */
function ofOneVersion(called: MoveFunction, addresses: NetworkAddresses): MoveFunction {
  return {
    ...called,
    run(call, args) {
      assertCoordinatorVersion(call.state, addresses);
      return called.run(call, args);
    },
  };
}
