import { CoordinatorModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { expect } from "vitest";
import { completeSession } from "../../../../src/localnet/contracts/coordinator/complete-session.ts";
import {
  coordinatorTypes,
  DWalletStruct,
  EncryptionKeyStruct,
  readInner,
  updateInner,
} from "../../../../src/localnet/contracts/coordinator/coordinator-state.ts";
import { findEncryptionKey } from "../../../../src/localnet/contracts/coordinator/encryption-keys.ts";
import { Protocol } from "../../../../src/localnet/contracts/coordinator/payment.ts";
import {
  requestedSequenceNumbers,
  requestedSession,
} from "../../../../src/localnet/contracts/coordinator/requested-session.ts";
import {
  DkgPaid,
  PresignPaid,
  SignPaid,
} from "../../../../src/localnet/contracts/treasury/treasury-events.ts";
import { Treasury, treasuryType } from "../../../../src/localnet/contracts/treasury/treasury-state.ts";
import { addObject, borrowObject, idName } from "../../../../src/localnet/fullnode/dynamic-fields.ts";
import { createCoin } from "../../../../src/localnet/fullnode/execution-state.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../../../src/localnet/fullnode/sui-types.ts";
import {
  type Amount,
  type Known,
  OPERATIONS,
  type Operation,
  type Step,
  unitsOf,
} from "../../../../tools/move/scenario.ts";
import { createModelChain, SENDER } from "./model-chain.ts";

/** What nothing on the chain has as its id. */
const UNKNOWN = `0x${"de".repeat(32)}`;
const PROTOCOLS = { dkg: Protocol.DwalletDkg, presign: Protocol.Presign, sign: Protocol.Sign } as const;

/**
 * Creates a Treasury of the localnet as the scenarios start with it, and returns a function that takes one step. It throws
 * as the step's transaction fails, and checks that a payment costs the network's price and that its events say so.
 */
export function createTreasuryModel(): (step: Step) => void {
  const chain = createModelChain();
  const { addresses, transact } = chain;
  const foreign = {
    adminCapId: chain.createForeignCap("AdminCap"),
    operatorCapId: chain.createForeignCap("OperatorCap"),
  };
  let operatorCapId = addresses.operatorCapIds[0]!;
  let sessionsCount = 0;
  const dwallets: string[] = [];
  const presigns: string[] = [];
  for (const op of OPERATIONS) setCeiling({ op, amount: { ika: { prices: 1 }, sui: { prices: 1 } } });
  return take;

  function take(step: Step): void {
    switch (step.do) {
      case "presigns": {
        const { curve = 0, algorithm = 0, count = 1 } = step;
        const sessions = Array.from({ length: count }, fresh);
        if (step.sessions !== undefined && step.sessions !== "fresh")
          sessions.splice(-1, 1, session(step.sessions));
        const paid = pay("presign", "pay_presigns", step, [networkKey(step), curve, algorithm, sessions]);
        presigns.push(...paid.map((event) => PresignPaid.parse(event).presign_id));
        expectLength(paid, count);
        return;
      }
      case "dkg": {
        const { curve = 0, keyCurve = curve } = step;
        const user = keyCurve === "none" ? UNKNOWN : registeredUser(keyCurve);
        const parts = [bytes(1), bytes(1), user, bytes(1), bytes(1), session(step.sessions), REFERENCE];
        const paid = pay("dkg", "pay_dkg", step, [networkKey(step), curve, ...parts]);
        dwallets.push(...paid.map((event) => DkgPaid.parse(event).dwallet_id));
        expectLength(paid, 1);
        return;
      }
      case "sign": {
        const ids = [known(dwallets, step.dwallet), known(presigns, step.presign)];
        const numbers = [step.curve ?? 0, step.algorithm ?? 0, step.hash ?? 0];
        const parts = [bytes(1), bytes(1), session(step.sessions), REFERENCE];
        expectLength(pay("sign", "pay_sign", step, [...ids, ...numbers, ...parts]), 1);
        return;
      }
      case "complete presign":
        complete("presign");
        return;
      case "activate dwallet":
        complete("dkg");
        accept(dwallets.at(-1)!);
        return;
      case "pause curve":
        transact((state) =>
          updateInner(state, addresses, ({ support_config }) =>
            support_config.paused_curves.push(step.curve),
          ),
        );
        return;
      case "coordinator moves":
        transact((state) => {
          const coordinator = state.find(addresses.coordinatorId)!;
          state.update(coordinator, CoordinatorModule.DWalletCoordinator, (value) => {
            value.version = (BigInt(value.version) + 1n).toString();
          });
        });
        return;
      case "treasury version":
        transact((state) => {
          state.update(state.find(addresses.treasuryId)!, Treasury, (value) => {
            value.version = step.version.toString();
          });
        });
        return;
      case "migrate":
        administer("migrate", step, []);
        return;
      case "deposit":
        deposit(unitsFor("presign", step.amount));
        return;
      case "new operator":
        operatorCapId = administer("new_operator", step, [])!;
        return;
      case "revoke operator":
        administer("revoke_operator", step, [step.operator === "unknown" ? UNKNOWN : operatorCapId]);
        return;
      case "ceiling":
        setCeiling(step);
        return;
      case "pause":
        administer("set_paused", step, [step.paused]);
        return;
      case "release dwallet":
        administer("release_dwallet", step, [known(dwallets, step.dwallet)]);
        return;
      case "release presign":
        administer("release_presign", step, [known(presigns, step.presign)]);
        return;
      case "drain nothing":
        administer("drain", step, [0n, 0n, SENDER]);
        return;
      case "keep": {
        const [kept, before] = [unitsFor(step.op, step.amount), balances()];
        administer("drain", {}, [before.ika - kept.ika, before.sui - kept.sui, SENDER]);
        expectSame(balances(), kept);
        return;
      }
      case "overdraw": {
        const { ika, sui } = balances();
        const more = step.coin === "ika" ? [ika + 1n, sui] : [ika, sui + 1n];
        administer("drain", {}, [...more, SENDER]);
      }
    }
  }

  /** Calls a function that pays, and returns its events. */
  function pay(
    op: Operation,
    name: string,
    { cap = "own" }: { readonly cap?: "own" | "foreign" },
    args: readonly unknown[],
  ): Uint8Array[] {
    const capId = cap === "own" ? operatorCapId : foreign.operatorCapId;
    const before = balances();
    const { events } = transact((state) => {
      const objects = [addresses.treasuryId, capId, addresses.coordinatorId].map((id) => state.find(id));
      chain.call(state, name, [...objects, ...args]);
    });
    const { struct, eventName } = EVENTS[op];
    const paid = events
      .filter(({ type }) => type === treasuryType(addresses, eventName))
      .map(({ contents }) => contents);
    const price = unitsFor(op, { ika: { prices: 1 }, sui: { prices: 1 } });
    for (const event of paid) {
      const { ika, sui } = struct.parse(event);
      expectSame({ ika: BigInt(ika), sui: BigInt(sui) }, price);
    }
    const [count, after] = [BigInt(paid.length), balances()];
    expectSame(after, { ika: before.ika - count * price.ika, sui: before.sui - count * price.sui });
    return paid;
  }

  /** Calls a function of the administrator, and returns the id of the object that it returns. */
  function administer(
    name: string,
    { admin = "own" }: { readonly admin?: "own" | "foreign" },
    args: readonly unknown[],
  ): string | undefined {
    const capId = admin === "own" ? addresses.adminCapId : foreign.adminCapId;
    return transact((state) => {
      const [value] = chain.call(state, name, [state.find(addresses.treasuryId), state.find(capId), ...args]);
      return value?.kind === "object" ? value.object.id : undefined;
    }).result;
  }

  function setCeiling(
    step: Pick<Step & { do: "ceiling" }, "admin" | "op" | "curve" | "algorithm" | "amount">,
  ): void {
    const { op, curve = 0, algorithm = 0 } = step;
    const { ika, sui } = unitsFor(op, step.amount);
    administer("set_ceiling", step, [OPERATIONS.indexOf(op), curve, algorithm, ika, sui]);
  }

  function deposit({ ika, sui }: Coins): void {
    const before = balances();
    transact((state) => {
      const ikaCoin = createCoin(state, coinObjectType(addresses.ikaCoinType), ika);
      const suiCoin = createCoin(state, SUI_COIN_TYPE, sui);
      chain.call(state, "deposit", [state.find(addresses.treasuryId), ikaCoin, suiCoin]);
    });
    expectSame(balances(), { ika: before.ika + ika, sui: before.sui + sui });
  }

  /** The network completes every open session of a kind. */
  function complete(kind: "presign" | "dkg"): void {
    for (const number of requestedSequenceNumbers(chain.objects, addresses)) {
      const open = requestedSession(chain.objects, addresses, number);
      if (open?.kind !== kind) continue;
      transact((state) => completeSession(state, addresses, open, { kind: "completed", output: bytes(1) }));
    }
  }

  /** The user accepts the dWallet. */
  function accept(dwalletId: string): void {
    transact((state) => {
      const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(dwalletId));
      state.update(dwallet, DWalletStruct, (value) => {
        value.state = { $kind: "Active", Active: { public_output: [1] } };
      });
    });
  }

  /** The address of a user whose encryption key is of this curve. */
  function registeredUser(curve: number): string {
    const user = `0x${curve.toString(16).padStart(2, "0").repeat(32)}`;
    transact((state) => {
      if (findEncryptionKey(state, addresses, user) !== undefined) return;
      const id = state.newId();
      const key = { id, curve, created_at_epoch: 1, signer_address: user, encryption_key: [1] };
      const signed = { ...key, encryption_key_signature: [1], signer_public_key: [1] };
      const type = coordinatorTypes(addresses.dwalletPackageId).inner("EncryptionKey");
      const object = state.create({ id, type, contents: EncryptionKeyStruct.serialize(signed).toBytes() });
      updateInner(state, addresses, ({ encryption_keys }) =>
        addObject(state, encryption_keys, idName(user, "address"), object),
      );
    });
    return user;
  }

  function session(which: "fresh" | "repeated" | "short" = "fresh"): Uint8Array {
    if (which === "fresh") return fresh();
    return which === "short" ? bytes(1) : sessionOf(1);
  }

  function fresh(): Uint8Array {
    sessionsCount += 1;
    return sessionOf(sessionsCount);
  }

  function networkKey({ networkKey = "own" }: { readonly networkKey?: "own" | "unknown" }): string {
    return networkKey === "own" ? addresses.networkEncryptionKeyId : UNKNOWN;
  }

  function balances(): Coins {
    const { ika, sui } = Treasury.parse(chain.objects.get(addresses.treasuryId)!.contents);
    return { ika: BigInt(ika), sui: BigInt(sui) };
  }

  /** An amount in units, by the coordinator's own prices. */
  function unitsFor(op: Operation, amount: Amount): Coins {
    const state = transact((working) => readInner(working, addresses)).result;
    const { contents } = state.pricing_and_fee_manager.current.pricing_map;
    const value = contents.find(({ key }) => key.curve === 0 && key.protocol === PROTOCOLS[op])!.value;
    const sui =
      BigInt(value.gas_fee_reimbursement_sui) + BigInt(value.gas_fee_reimbursement_sui_for_system_calls);
    return { ika: unitsOf(amount.ika, BigInt(value.fee_ika)), sui: unitsOf(amount.sui, sui) };
  }
}

interface Coins {
  readonly ika: bigint;
  readonly sui: bigint;
}

const REFERENCE = new TextEncoder().encode("reference");

/** The names and contents of the events of each operation. */
const EVENTS = {
  dkg: { eventName: "DkgPaid", struct: DkgPaid },
  presign: { eventName: "PresignPaid", struct: PresignPaid },
  sign: { eventName: "SignPaid", struct: SignPaid },
} as const;

function bytes(value: number): Uint8Array {
  return Uint8Array.of(value);
}

/** The identifier of a session, by its number from one. */
function sessionOf(number: number): Uint8Array {
  return bcs.u256().serialize(number).toBytes();
}

function known(ids: readonly string[], which: Known = "last"): string {
  return which === "last" ? ids.at(-1)! : UNKNOWN;
}

function expectSame(found: Coins, expected: Coins): void {
  expect(found).toEqual(expected);
}

function expectLength(paid: readonly Uint8Array[], count: number): void {
  expect(paid).toHaveLength(count);
}
