import { CoordinatorInnerDynamicField } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { presentObjects } from "../../protocol/chain-reader.ts";
import { TreasuryObject } from "../../protocol/treasury-objects.ts";
import type { ChainNetwork } from "../network.ts";
import { retryRead } from "../retry-read.ts";
import { type TreasuryBalances, type TreasuryState, treasuryState } from "./treasury-state.ts";

/** Creates a reader that uses the network's client. */
export function createTreasuryReader(network: ChainNetwork): TreasuryReader {
  const { core } = network.client;
  const read = retryRead(network);
  const treasury = async () => {
    const { objectId } = network.treasuryRef;
    const { object } = await read((signal) =>
      core.getObject({ objectId, include: { content: true }, signal }),
    );
    return TreasuryObject.parse(object.content);
  };

  return {
    async state() {
      return treasuryState(await treasury());
    },
    async signPrices() {
      const entries = await pricing();
      return entries
        .filter(({ key }) => key.protocol === PROTOCOL.sign)
        .flatMap(({ key: { curve, signature_algorithm: signatureAlgorithm }, value }) => {
          const presign = priceIn(entries, { curve, signatureAlgorithm, session: "presign" });
          const sign = toPrice(value);
          if (presign === undefined || signatureAlgorithm === null) return [];
          return [{ curve, signatureAlgorithm, ika: presign.ika + sign.ika, sui: presign.sui + sign.sui }];
        });
    },
    async balances() {
      const { ika, sui } = await treasury();
      return { ika: BigInt(ika), sui: BigInt(sui) };
    },
    async ceilings() {
      return readCeilings((await treasury()).ceilings.id);
    },
    async price(curve, signatureAlgorithm, session) {
      return priceIn(await pricing(), { curve, signatureAlgorithm, session });
    },
    async heldPresigns() {
      const fields = await fieldsOf((await treasury()).custody.presign_caps.id);
      const held: HeldPresign[] = [];
      for (let index = 0; index < fields.length; index += OBJECTS_PER_CALL) {
        const page = fields.slice(index, index + OBJECTS_PER_CALL);
        const objectIds = page.map(({ fieldId }) => fieldId);
        const include = { previousTransaction: true } as const;
        const { objects } = await read((signal) => core.getObjects({ objectIds, include, signal }));
        const nameOf = new Map(page.map(({ fieldId, name }) => [fieldId, name.bcs]));
        // An entry that has been used meanwhile no longer exists.
        for (const object of presentObjects(objects)) {
          const name = nameOf.get(object.objectId);
          if (!object.previousTransaction || name === undefined) continue;
          held.push({ presignId: bcs.Address.parse(name), digest: object.previousTransaction });
        }
      }
      return held;
    },
  };

  async function pricing(): Promise<PriceEntry[]> {
    return (await coordinatorInner()).pricing_and_fee_manager.current.pricing_map.contents;
  }

  async function readCeilings(tableId: string): Promise<PriceCeiling[]> {
    const fields = await fieldsOf(tableId);
    const ceilings: PriceCeiling[] = [];
    for (let index = 0; index < fields.length; index += OBJECTS_PER_CALL) {
      const objectIds = fields.slice(index, index + OBJECTS_PER_CALL).map(({ fieldId }) => fieldId);
      const { objects } = await read((signal) =>
        core.getObjects({ objectIds, include: { content: true }, signal }),
      );
      // An entry that has been replaced meanwhile no longer exists.
      for (const object of presentObjects(objects)) {
        const { name, value } = CeilingField.parse(object.content);
        const operation = CEILED[name.op];
        if (operation === undefined) continue;
        const { curve, signature_algorithm: signatureAlgorithm } = name;
        ceilings.push({
          ...{ operation, curve, signatureAlgorithm },
          ...{ ika: BigInt(value.ika), sui: BigInt(value.sui) },
        });
      }
    }
    return ceilings.sort(
      (a, b) =>
        CEILED.indexOf(a.operation) - CEILED.indexOf(b.operation) ||
        a.curve - b.curve ||
        a.signatureAlgorithm - b.signatureAlgorithm,
    );
  }

  async function fieldsOf(parentId: string) {
    const fields = [];
    let cursor: string | null = null;
    do {
      const after: string | null = cursor;
      const page: Awaited<ReturnType<typeof core.listDynamicFields>> = await read((signal) =>
        core.listDynamicFields({ parentId, cursor: after, signal }),
      );
      fields.push(...page.dynamicFields);
      cursor = page.hasNextPage ? page.cursor : null;
    } while (cursor !== null);
    return fields;
  }

  /** Bypasses the Ika client, which caches the first result forever. */
  async function coordinatorInner() {
    const field = (await fieldsOf(network.coordinatorRef.objectId)).at(-1);
    if (field === undefined) throw new Error("the coordinator has no inner state");
    const { object } = await read((signal) =>
      core.getObject({ objectId: field.fieldId, include: { content: true }, signal }),
    );
    return CoordinatorInnerDynamicField.parse(object.content).value;
  }
}

/** The maximum price of one operation, in the smallest units. Curve and algorithm are the chain's integers. */
export interface PriceCeiling extends TreasuryBalances {
  readonly operation: "dkg" | PricedSession;
  readonly curve: number;
  /** 0 for a DKG, which has no algorithm. */
  readonly signatureAlgorithm: number;
}

/** The total price of a signature with its presign, in the smallest units. */
export interface SignPrice extends SessionPrice {
  readonly curve: number;
  readonly signatureAlgorithm: number;
}

/** The network's price of one session, in the smallest units. */
export interface SessionPrice {
  readonly ika: bigint;
  readonly sui: bigint;
}

/** The kinds of session with their own price. */
export type PricedSession = "presign" | "sign";

/** A presign whose cap the Treasury holds. */
export interface HeldPresign {
  readonly presignId: string;
  /** The transaction that requested it. */
  readonly digest: string;
}

/** Reads the Treasury and the network's prices. Throws CHAIN_UNAVAILABLE if the fullnode does not answer. */
export interface TreasuryReader {
  balances(): Promise<TreasuryBalances>;
  state(): Promise<TreasuryState>;
  ceilings(): Promise<PriceCeiling[]>;
  /** Returns the prices of all algorithms for which the network has a price. */
  signPrices(): Promise<SignPrice[]>;
  /** Returns undefined if the network has no price for the session. */
  price(curve: number, signatureAlgorithm: number, session: PricedSession): Promise<SessionPrice | undefined>;
  /** Returns all paid, unused presigns, in no particular order. */
  heldPresigns(): Promise<HeldPresign[]>;
}

/** An entry of the Treasury's ceilings. */
const CeilingField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.struct("PriceKey", { op: bcs.u8(), curve: bcs.u32(), signature_algorithm: bcs.u32() }),
  value: bcs.struct("Ceiling", { ika: bcs.u64(), sui: bcs.u64() }),
});

/** The index is the operation's number in the ceilings. */
const CEILED = ["dkg", "presign", "sign"] as const;

/** The protocol numbers of the coordinator's pricing map. */
const PROTOCOL = { presign: 5, sign: 6 } as const;
const OBJECTS_PER_CALL = 50;

type PriceEntry =
  (typeof CoordinatorInnerDynamicField.$inferType)["value"]["pricing_and_fee_manager"]["current"]["pricing_map"]["contents"][number];

function priceIn(
  entries: readonly PriceEntry[],
  wanted: { curve: number; signatureAlgorithm: number | null; session: PricedSession },
): SessionPrice | undefined {
  const entry = entries.find(
    ({ key }) =>
      key.curve === wanted.curve &&
      key.signature_algorithm === wanted.signatureAlgorithm &&
      key.protocol === PROTOCOL[wanted.session],
  );
  return entry && toPrice(entry.value);
}

function toPrice(value: PriceEntry["value"]): SessionPrice {
  const { fee_ika, gas_fee_reimbursement_sui, gas_fee_reimbursement_sui_for_system_calls } = value;
  return {
    ika: BigInt(fee_ika),
    sui: BigInt(gas_fee_reimbursement_sui) + BigInt(gas_fee_reimbursement_sui_for_system_calls),
  };
}
