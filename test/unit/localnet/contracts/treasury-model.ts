import { CoordinatorModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { expect } from "vitest";
import { readInner, updateInner } from "../../../../src/localnet/contracts/coordinator/coordinator-state.ts";
import { Protocol } from "../../../../src/localnet/contracts/coordinator/prices.ts";
import {
  DkgPaid,
  FutureSignPaid,
  ImportPaid,
  PresignPaid,
  SharePaid,
  SignPaid,
} from "../../../../src/localnet/contracts/treasury/treasury-events.ts";
import { treasuryType } from "../../../../src/localnet/contracts/treasury/treasury-state.ts";
import {
  createCoin,
  type ExecutionState,
} from "../../../../src/localnet/fullnode/execution/execution-state.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../../../src/localnet/fullnode/objects/sui-types.ts";
import { TreasuryObject } from "../../../../src/protocol/chain/treasury-custody.ts";
import { signConsent, userOf } from "../../../../tools/move/consents.ts";
import {
  type Amount,
  type Consented,
  type Known,
  LIMIT_KINDS,
  OPERATIONS,
  type Operation,
  type Step,
  unitsOf,
} from "../../../../tools/move/scenario.ts";
import { addressOf, roleOf } from "./model-actors.ts";
import { createModelChain, SENDER } from "./model-chain.ts";
import { createModelNetwork } from "./model-network.ts";

/** An id of no object on the chain. */
const UNKNOWN = `0x${"de".repeat(32)}`;
/** More than an operator spends in a scenario. */
const AMPLE = 1_000_000;
const PROTOCOLS = {
  dkg: Protocol.DwalletDkg,
  presign: Protocol.Presign,
  sign: Protocol.Sign,
  share: Protocol.ReEncryption,
  import: Protocol.ImportedKey,
  future_sign: Protocol.FutureSign,
  partial_sign: Protocol.SignWithPartialSignature,
} as const;

/**
 * Creates a Treasury of the localnet in the scenarios' initial state, and returns a function that takes one step. It
 * throws the error of the step's transaction, and checks that a payment costs the network's price and that its events
 * say so.
 */
export function createTreasuryModel(): (step: Step) => void {
  const chain = createModelChain();
  const { addresses, transact } = chain;
  const { complete, accept, registeredUser, shareOf } = createModelNetwork(chain);
  const foreign = {
    adminCapId: chain.createForeignCap("roles::AdminCap"),
    operatorCapId: chain.createForeignCap("treasury::OperatorCap"),
  };
  let operatorCapId = addresses.operatorCapIds[0]!;
  let adminCapId = addresses.adminCapId;
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
      case "import": {
        const { curve = 0, userKey } = step;
        const user = userKey === "none" ? UNKNOWN : registeredUser(curve);
        const parts = [bytes(1), bytes(1), user, bytes(1), bytes(1), session(step.sessions), REFERENCE];
        const paid = pay("import", "pay_import", step, [networkKey(step), curve, ...parts]);
        dwallets.push(...paid.map((event) => ImportPaid.parse(event).dwallet_id));
        expectLength(paid, 1);
        return;
      }
      case "dwallet presigns": {
        const { algorithm = 0, count = 1 } = step;
        const sessions = Array.from({ length: count }, fresh);
        if (step.sessions !== undefined && step.sessions !== "fresh")
          sessions.splice(-1, 1, session(step.sessions));
        const args = [known(dwallets, step.dwallet), algorithm, sessions];
        const paid = pay("presign", "pay_dwallet_presigns", step, args);
        presigns.push(...paid.map((event) => PresignPaid.parse(event).presign_id));
        expectLength(paid, count);
        return;
      }
      case "sign":
      case "sign with imported key": {
        const name = step.do === "sign" ? "pay_sign" : "pay_imported_key_sign";
        const ids = [known(dwallets, step.dwallet), known(presigns, step.presign)];
        const numbers = [step.curve ?? 0, step.algorithm ?? 0, step.hash ?? 0];
        const parts = [bytes(1), bytes(1), session(step.sessions), REFERENCE];
        expectLength(pay("sign", name, step, [...ids, ...numbers, ...parts]), 1);
        return;
      }
      case "share": {
        const dwalletId = known(dwallets, step.dwallet);
        const recipient = step.hasKey === false ? UNKNOWN : registeredUser(0);
        const source = step.dwallet === "unknown" || step.source === "unknown" ? UNKNOWN : shareOf(dwalletId);
        const parts = [recipient, bytes(1), source, session(step.sessions), REFERENCE];
        expectLength(pay("share", "pay_share", step, [dwalletId, step.curve ?? 0, ...parts]), 1);
        return;
      }
      case "future sign": {
        const ids = [known(dwallets, step.dwallet), known(presigns, step.presign)];
        const numbers = [step.curve ?? 0, step.algorithm ?? 0, step.hash ?? 0];
        const parts = [bytes(1), bytes(1), BigInt(step.epochs ?? 2), session(step.sessions), REFERENCE];
        expectLength(pay("future_sign", "pay_future_sign", step, [...ids, ...numbers, ...parts]), 1);
        return;
      }
      case "partial sign": {
        const ids = [known(dwallets, step.dwallet), known(presigns, step.presign)];
        const numbers = [step.curve ?? 0, step.algorithm ?? 0, step.hash ?? 0];
        const message = bytes(step.message === "another" ? 2 : 1);
        const parts = [message, session(step.sessions), REFERENCE];
        expectLength(pay("partial_sign", "pay_partial_sign", step, [...ids, ...numbers, ...parts]), 1);
        return;
      }
      case "halves":
        for (let count = 0; count < step.count; count++)
          for (const one of ["presigns", "complete presign", "future sign"] as const) take({ do: one });
        return;
      case "complete half":
        complete("futureSign");
        return;
      case "complete presign":
        complete("presign");
        return;
      case "activate dwallet":
        complete("dkg");
        complete("importedKey");
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
          state.update(state.find(addresses.treasuryId)!, TreasuryObject, (value) => {
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
      case "new operator": {
        administer("new_operator", step, [addressOf(step.holder ?? "hot wallet"), ...limitsOf(step)]);
        operatorCapId = treasury().operators.at(-1)!.cap_id;
        return;
      }
      case "renew operator":
        administer("renew_operator", step, [operatorOf(step), ...limitsOf(step)]);
        return;
      case "revoke operator":
        administer("revoke_operator", step, [operatorOf(step)]);
        return;
      case "epochs pass":
        chain.passEpochs(step.count);
        return;
      case "act as":
        chain.actAs(addressOf(step.who));
        return;
      case "pause as pauser":
        callTreasury("pause", []);
        return;
      case "set roles":
        administer("set_roles", step, [roleOf(step.pauser), roleOf(step.recovery)]);
        return;
      case "offer admin":
        administer("offer_admin", step, [addressOf(step.to)]);
        return;
      case "withdraw admin offer":
        administer("withdraw_admin_offer", step, []);
        return;
      case "accept admin":
        callTreasury("accept_admin", []);
        adminCapId = treasury().roles.admin_cap_id;
        return;
      case "recover admin":
        callTreasury("recover_admin", [addressOf(step.to)]);
        return;
      case "leave":
      case "refuse release":
        consent(step);
        return;
      case "announce release":
        administer("announce_release", step, [known(dwallets, step.dwallet), SENDER]);
        return;
      case "withdraw release":
        administer("withdraw_release", step, [known(dwallets, step.dwallet)]);
        return;
      case "release dwallet":
        administer("release_dwallet", step, [known(dwallets, step.dwallet)]);
        return;
      case "release presign":
        administer("release_presign", step, [known(presigns, step.presign), SENDER]);
        return;
      case "announce successor":
        administer("announce_successor", step, [UNKNOWN]);
        return;
      case "withdraw successor":
        administer("withdraw_successor", step, []);
        return;
      case "move dwallet":
        administer("move_dwallets", step, [[known(dwallets, step.dwallet)]]);
        return;
      case "move presign":
        administer("move_presigns", step, [[known(presigns, step.presign)]]);
        return;
      case "take in dwallet":
        takeIn("take_in_dwallet", step, "DWalletCap", [0, userOf(0).address]);
        return;
      case "take in imported key":
        takeIn("take_in_imported_key", step, "ImportedKeyDWalletCap", [0, userOf(0).address]);
        return;
      case "take in presign":
        takeIn("take_in_presign", step, "UnverifiedPresignCap", []);
        return;
      case "ceiling":
        setCeiling(step);
        return;
      case "pause":
        administer("set_paused", step, [step.paused]);
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

  /** Calls a paying function, and returns its events. */
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

  /** Calls a function as the administrator. */
  function administer(
    name: string,
    { admin = "own" }: { readonly admin?: "own" | "first" | "foreign" },
    args: readonly unknown[],
  ): void {
    transact((state) => administerIn(state, name, { admin }, args));
  }

  function administerIn(
    state: ExecutionState,
    name: string,
    { admin = "own" }: { readonly admin?: string },
    args: readonly unknown[],
  ): void {
    const caps = { own: adminCapId, first: addresses.adminCapId, foreign: foreign.adminCapId };
    const cap = state.find(caps[admin as keyof typeof caps]);
    chain.call(state, name, [state.find(addresses.treasuryId), cap, ...args]);
  }

  /** Calls a function that takes no cap. */
  function callTreasury(name: string, args: readonly unknown[]): void {
    transact((state) => chain.call(state, name, [state.find(addresses.treasuryId), ...args]));
  }

  function consent(step: Consented & { readonly do: "leave" | "refuse release" }): void {
    const dwalletId = known(dwallets, step.dwallet);
    const action = step.do === "leave" ? "leave" : "refuse";
    const of = { action, treasuryId: addresses.treasuryId, dwalletId, recipient: SENDER } as const;
    const { chain: digest, nonce, expiresEpoch, publicKey, signature } = signConsent(step, of);
    const told = [dwalletId, digest, ...(action === "leave" ? [SENDER] : [])];
    callTreasury(action === "leave" ? "leave" : "refuse_release", [
      ...told,
      nonce,
      expiresEpoch,
      publicKey,
      signature,
    ]);
  }

  /** Sends a capability of this type to the Treasury, if it is not there yet, and makes the Treasury take it in. */
  function takeIn(
    name: string,
    step: { readonly admin?: "own" | "foreign" | "first" },
    type: string,
    args: readonly unknown[],
  ): void {
    transact((state) => {
      const found = [...chain.objects.all()].find((object) => object.type.endsWith(`::${type}`))!;
      const cap = state.find(found.id)!;
      cap.owner = { kind: "address", address: addresses.treasuryId };
      administerIn(state, name, step, [cap, ...args]);
    });
  }

  function operatorOf(step: { readonly operator?: Known }): string {
    return step.operator === "unknown" ? UNKNOWN : operatorCapId;
  }

  function limitsOf({
    expiresEpoch = AMPLE,
    limits = {},
  }: Step & { do: "new operator" | "renew operator" }): bigint[] {
    const price = unitsFor("presign", { ika: { prices: 1 }, sui: { prices: 1 } });
    const amounts = LIMIT_KINDS.map((kind) => {
      const units = limits[kind];
      if (units === undefined) return BigInt(AMPLE) * 1_000_000_000n;
      return unitsOf(units, kind === "ika" || kind === "sui" ? price[kind] : 1n);
    });
    return [BigInt(expiresEpoch), ...amounts];
  }

  function treasury() {
    return TreasuryObject.parse(chain.objects.get(addresses.treasuryId)!.contents);
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
    const { ika, sui } = treasury();
    return { ika: BigInt(ika), sui: BigInt(sui) };
  }

  /** Converts an amount to units, with the coordinator's own prices. */
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

/** The name and the struct of the event of each operation. */
const EVENTS = {
  dkg: { eventName: "treasury::DkgPaid", struct: DkgPaid },
  presign: { eventName: "treasury::PresignPaid", struct: PresignPaid },
  sign: { eventName: "treasury::SignPaid", struct: SignPaid },
  share: { eventName: "treasury::SharePaid", struct: SharePaid },
  import: { eventName: "treasury::ImportPaid", struct: ImportPaid },
  future_sign: { eventName: "treasury::FutureSignPaid", struct: FutureSignPaid },
  partial_sign: { eventName: "treasury::SignPaid", struct: SignPaid },
} as const;

function bytes(value: number): Uint8Array {
  return Uint8Array.of(value);
}

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
