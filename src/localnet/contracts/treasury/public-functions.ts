import { bcs } from "@mysten/sui/bcs";
import { U64 } from "../../../protocol/chain/fast-bcs.ts";
import { balanceOf } from "../../fullnode/execution/execution-state.ts";
import {
  address,
  borrowed,
  type MoveFunction,
  type MoveParameter,
  moveFunction,
  moveId,
  owned,
  plainValue,
} from "../../fullnode/execution/move-function.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { hasDWallet, hasPresign } from "./custody.ts";
import { acceptAdmin, assertAdmin, assertPauser, recoverAdmin, setPaused } from "./roles.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { treasuryFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import {
  addBalances,
  assertVersion,
  TREASURY_VERSION,
  treasuryOf,
  treasuryType,
  updateTreasury,
} from "./treasury-state.ts";

/**
 * Returns the calls that need no cap of this version: deposits, reads, calls of roles held by an address, and the
 * migration.
 */
export function publicFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  return [
    treasuryFunction(addresses, {
      name: "deposit",
      parameters: [owned(coinObjectType(addresses.ikaCoinType)), owned(SUI_COIN_TYPE)],
      run(call, ikaCoin, suiCoin) {
        assertVersion(call);
        const ika = balanceOf(call.state, ikaCoin);
        const sui = balanceOf(call.state, suiCoin);
        emitTreasury(call, "treasury::Deposited", { from: call.sender, ika, sui });
        addBalances(call, ika, sui);
        call.state.remove(ikaCoin);
        call.state.remove(suiCoin);
      },
    }),
    treasuryFunction(addresses, {
      name: "pause",
      parameters: [],
      run(call) {
        assertVersion(call);
        assertPauser(call);
        setPaused(call, true);
      },
    }),
    treasuryFunction(addresses, {
      name: "accept_admin",
      parameters: [],
      run(call) {
        assertVersion(call);
        acceptAdmin(call);
      },
    }),
    treasuryFunction(addresses, {
      name: "recover_admin",
      parameters: [address],
      run(call, to) {
        assertVersion(call);
        recoverAdmin(call, to);
      },
    }),
    treasuryFunction(addresses, {
      name: "migrate",
      parameters: [borrowed(treasuryType(addresses, "roles::AdminCap"))],
      run(call, cap) {
        assertAdmin(call, cap);
        const from = BigInt(treasuryOf(call).version);
        if (from >= TREASURY_VERSION) abortTreasury(call, "treasury::migrate", "treasury:NothingToMigrate");
        updateTreasury(call, (value) => {
          value.version = TREASURY_VERSION.toString();
        });
        emitTreasury(call, "treasury::Migrated", { from, to: TREASURY_VERSION });
      },
    }),
    readFunction(addresses, "balances", [], ["u64", "u64"], (call) => {
      const { ika, sui } = treasuryOf(call);
      return [ika, sui].map((value) => plainValue("u64", U64.serialize(value).toBytes()));
    }),
    readFunction(addresses, "has_dwallet", [moveId], ["bool"], (call, id) => [
      boolValue(hasDWallet(call, id as string)),
    ]),
    readFunction(addresses, "has_presign", [moveId], ["bool"], (call, id) => [
      boolValue(hasPresign(call, id as string)),
    ]),
  ];
}

/** Defines a function that borrows the Treasury immutably. */
function readFunction(
  addresses: NetworkAddresses,
  name: string,
  parameters: readonly MoveParameter<unknown>[],
  returns: readonly string[],
  read: (call: TreasuryCall, argument: unknown) => ReturnType<typeof plainValue>[],
): MoveFunction {
  return moveFunction({
    packageId: addresses.treasuryPackageId,
    module: "treasury",
    name,
    parameters: [borrowed(treasuryType(addresses, "treasury::Treasury")), ...parameters],
    returns,
    run: ({ state, sender, epoch }, self, argument) =>
      read({ state, addresses, self: self as TreasuryCall["self"], sender, epoch }, argument),
  });
}

function boolValue(value: boolean) {
  return plainValue("bool", bcs.bool().serialize(value).toBytes());
}
