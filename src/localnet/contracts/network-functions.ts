import { fromBase64 } from "@mysten/sui/utils";
import { type FunctionTable, functionTable, type MoveFunction } from "../fullnode/execution/move-function.ts";
import { ikaConfigOf } from "../ika-config.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { assertCoordinatorVersion } from "./coordinator/coordinator-state.ts";
import { acceptShareFunctions } from "./coordinator/dwallets/accept-share.ts";
import { dkgFunctions } from "./coordinator/dwallets/dkg.ts";
import { importedKeyFunctions } from "./coordinator/dwallets/imported-key.ts";
import { shareFunctions } from "./coordinator/dwallets/share-requests.ts";
import { encryptionKeyFunctions } from "./coordinator/encryption-keys.ts";
import { sessionAndViewFunctions } from "./coordinator/read.ts";
import { approvalFunctions } from "./coordinator/signing/approve-message.ts";
import { futureSignFunctions } from "./coordinator/signing/future-sign.ts";
import { presignFunctions } from "./coordinator/signing/presign.ts";
import { signFunctions } from "./coordinator/signing/sign.ts";
import { signDuringDkgFunctions } from "./coordinator/signing/sign-during-dkg.ts";
import { signWithPartialFunctions } from "./coordinator/signing/sign-with-partial.ts";
import { subsidyFunctions } from "./coordinator/subsidies.ts";
import { balanceFunctions } from "./framework/balance-functions.ts";
import { frameworkFunctions } from "./framework/framework-functions.ts";
import { adminFunctions } from "./treasury/admin-functions.ts";
import { custodyFunctions } from "./treasury/custody-functions.ts";
import { halfFunctions } from "./treasury/half-functions.ts";
import { operatorFunctions } from "./treasury/operator-functions.ts";
import { publicFunctions } from "./treasury/public-functions.ts";
import { publishTreasury } from "./treasury/treasury-genesis.ts";
import { localTreasuryPackage } from "./treasury/treasury-package.ts";
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
      firstPackageId: addresses.treasuryPackageId,
      modules: () => localTreasuryPackage(ikaConfigOf(addresses).packages).modules.map(fromBase64),
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
    ...halfFunctions(addresses),
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
