import { CoordinatorInnerDynamicField } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { ServiceError } from "../errors/service-error.ts";
import type { ChainNetwork } from "./network.ts";
import { withDeadline } from "./with-deadline.ts";

/** What the Treasury has, in the smallest units. */
export interface TreasuryBalances {
  readonly ika: bigint;
  readonly sui: bigint;
}

/** The Treasury as the chain has it. */
export interface TreasuryState extends TreasuryBalances {
  readonly paused: boolean;
  /** The OperatorCaps that it takes. */
  readonly operatorCapIds: readonly string[];
  readonly ceilings: readonly PriceCeiling[];
}

/** The most that one operation may cost, in the smallest units. Curve and algorithm are the chain's integers. */
export interface PriceCeiling extends TreasuryBalances {
  readonly operation: "dkg" | PricedSession;
  readonly curve: number;
  /** 0 for a DKG, which has none. */
  readonly signatureAlgorithm: number;
}

/** What the network takes for one session, in the smallest units. */
export interface SessionPrice {
  readonly ika: bigint;
  readonly sui: bigint;
}

/** The kinds of session with a price of their own. */
export type PricedSession = "presign" | "sign";

/** A presign whose cap the Treasury holds. */
export interface HeldPresign {
  readonly presignId: string;
  /** The transaction that asked for it. */
  readonly digest: string;
}

/** What the service reads of the Treasury and of the network's prices. Throws CHAIN_UNAVAILABLE when the fullnode does not answer. */
export interface TreasuryReader {
  balances(): Promise<TreasuryBalances>;
  state(): Promise<TreasuryState>;
  /** Undefined when the network has no price for it. */
  price(curve: number, signatureAlgorithm: number, session: PricedSession): Promise<SessionPrice | undefined>;
  /** Every presign that was paid for and not used, in any order. */
  heldPresigns(): Promise<HeldPresign[]>;
}

/** `treasury::Treasury` of `move/treasury`, as far as it is read here. */
const Table = bcs.struct("Table", { id: bcs.Address, size: bcs.u64() });
const Treasury = bcs.struct("Treasury", {
  id: bcs.Address,
  version: bcs.u64(),
  paused: bcs.bool(),
  ika: bcs.u64(),
  sui: bcs.u64(),
  operators: bcs.vector(bcs.Address),
  ceilings: Table,
  dwallet_caps: Table,
  presign_caps: Table,
});

/** An entry of its ceilings. */
const CeilingField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.struct("PriceKey", { op: bcs.u8(), curve: bcs.u32(), signature_algorithm: bcs.u32() }),
  value: bcs.struct("Ceiling", { ika: bcs.u64(), sui: bcs.u64() }),
});

/** Operations, as the ceilings number them. */
const CEILED = ["dkg", "presign", "sign"] as const;

/** The protocol numbers of the coordinator's pricing map. */
const PROTOCOL = { presign: 5, sign: 6 } as const;
const OBJECTS_PER_CALL = 50;

/** Reads through the network's client. */
export function createTreasuryReader(network: ChainNetwork): TreasuryReader {
  const { core } = network.client;
  const read = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(network.times.readMs, (signal) => network.pressure.run(() => call(signal), signal)).catch(
      (cause: unknown) => {
        throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
      },
    );
  const treasury = async () => {
    const { objectId } = network.treasuryRef;
    const { object } = await read((signal) =>
      core.getObject({ objectId, include: { content: true }, signal }),
    );
    return Treasury.parse(object.content);
  };

  return {
    async balances() {
      const { ika, sui } = await treasury();
      return { ika: BigInt(ika), sui: BigInt(sui) };
    },
    async state() {
      const { ika, sui, paused, operators, ceilings } = await treasury();
      return {
        ika: BigInt(ika),
        sui: BigInt(sui),
        paused,
        operatorCapIds: operators,
        ceilings: await readCeilings(ceilings.id),
      };
    },
    async price(curve, signatureAlgorithm, session) {
      const { contents } = (await coordinatorInner()).pricing_and_fee_manager.current.pricing_map;
      const entry = contents.find(
        ({ key }) =>
          key.curve === curve &&
          key.signature_algorithm === signatureAlgorithm &&
          key.protocol === PROTOCOL[session],
      );
      if (entry === undefined) return undefined;
      const { fee_ika, gas_fee_reimbursement_sui, gas_fee_reimbursement_sui_for_system_calls } = entry.value;
      return {
        ika: BigInt(fee_ika),
        sui: BigInt(gas_fee_reimbursement_sui) + BigInt(gas_fee_reimbursement_sui_for_system_calls),
      };
    },
    async heldPresigns() {
      const fields = await fieldsOf((await treasury()).presign_caps.id);
      const held: HeldPresign[] = [];
      for (let index = 0; index < fields.length; index += OBJECTS_PER_CALL) {
        const page = fields.slice(index, index + OBJECTS_PER_CALL);
        const objectIds = page.map(({ fieldId }) => fieldId);
        const include = { previousTransaction: true } as const;
        const { objects } = await read((signal) => core.getObjects({ objectIds, include, signal }));
        for (const [position, object] of objects.entries()) {
          const name = page[position]?.name.bcs;
          // One that was used in the meantime comes as an Error.
          if (object instanceof Error || !object.previousTransaction || name === undefined) continue;
          held.push({ presignId: bcs.Address.parse(name), digest: object.previousTransaction });
        }
      }
      return held;
    },
  };

  async function readCeilings(tableId: string): Promise<PriceCeiling[]> {
    const fields = await fieldsOf(tableId);
    const ceilings: PriceCeiling[] = [];
    for (let index = 0; index < fields.length; index += OBJECTS_PER_CALL) {
      const objectIds = fields.slice(index, index + OBJECTS_PER_CALL).map(({ fieldId }) => fieldId);
      const { objects } = await read((signal) =>
        core.getObjects({ objectIds, include: { content: true }, signal }),
      );
      for (const object of objects) {
        // One that was set anew in the meantime comes as an Error.
        if (object instanceof Error) continue;
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

  /** Read anew each time: the Ika client keeps the first one that it sees. */
  async function coordinatorInner() {
    const field = (await fieldsOf(network.coordinatorRef.objectId)).at(-1);
    if (field === undefined) throw new Error("the coordinator has no inner state");
    const { object } = await read((signal) =>
      core.getObject({ objectId: field.fieldId, include: { content: true }, signal }),
    );
    return CoordinatorInnerDynamicField.parse(object.content).value;
  }
}
