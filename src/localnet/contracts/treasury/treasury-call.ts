import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  type MoveFunction,
  type MoveParameter,
  type MoveValue,
  moveFunction,
} from "../../fullnode/execution/move-function.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { assertAdmin } from "./roles.ts";
import { assertVersion, type TreasuryCall, treasuryType } from "./treasury-state.ts";

/** Defines a function of `treasury::treasury` that takes the Treasury and these parameters. */
export function treasuryFunction<const P extends readonly MoveParameter<unknown>[]>(
  addresses: NetworkAddresses,
  definition: {
    readonly name: string;
    readonly parameters: P;
    readonly returns?: readonly string[];
    // biome-ignore lint/suspicious/noConfusingVoidType: a Move function without results returns nothing
    run(call: TreasuryCall, ...args: Arguments<P>): readonly MoveValue[] | void;
  },
): MoveFunction {
  const { name, parameters, returns = [], run } = definition;
  return moveFunction({
    packageId: addresses.treasuryPackageId,
    module: "treasury",
    name,
    parameters: [
      borrowedMut(treasuryType(addresses, "treasury::Treasury")),
      ...(parameters as readonly MoveParameter<unknown>[]),
    ],
    returns,
    run({ state, sender, epoch }, ...args) {
      const [self, ...rest] = args as [WorkingObject, ...unknown[]];
      return run({ state, addresses, self, sender, epoch }, ...(rest as Arguments<P>));
    },
  });
}

/** Defines a function of `treasury::treasury` that takes the Treasury, its AdminCap and these parameters. */
export function adminFunction<const P extends readonly MoveParameter<unknown>[]>(
  addresses: NetworkAddresses,
  definition: {
    readonly name: string;
    readonly parameters: P;
    run(call: TreasuryCall, ...args: Arguments<P>): void;
  },
): MoveFunction {
  const cap = borrowed(treasuryType(addresses, "roles::AdminCap"));
  const { name, parameters, run } = definition;
  return treasuryFunction(addresses, {
    name,
    parameters: [cap, ...(parameters as readonly MoveParameter<unknown>[])],
    run(call, ...args) {
      const [admin, ...rest] = args as [WorkingObject, ...unknown[]];
      assertVersion(call);
      assertAdmin(call, admin);
      run(call, ...(rest as Arguments<P>));
    },
  });
}

type Arguments<P extends readonly MoveParameter<unknown>[]> = {
  [K in keyof P]: P[K] extends MoveParameter<infer T> ? T : never;
};
