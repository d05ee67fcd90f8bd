import { CoordinatorInnerDynamicField } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { ChainNetwork } from "./network.ts";
import { withDeadline } from "./with-deadline.ts";

/** What the Treasury has, in the smallest units. */
export interface TreasuryBalances {
  readonly ika: bigint;
  readonly sui: bigint;
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

/** What the service reads of the Treasury and of the network's prices. Throws when the fullnode does not answer. */
export interface TreasuryReader {
  balances(): Promise<TreasuryBalances>;
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

/** The protocol numbers of the coordinator's pricing map. */
const PROTOCOL = { presign: 5, sign: 6 } as const;
const OBJECTS_PER_CALL = 50;

/** Reads through the network's client. */
export function createTreasuryReader(network: ChainNetwork): TreasuryReader {
  const { core } = network.client;
  const read = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(network.times.readMs, (signal) => network.pressure.run(() => call(signal), signal));
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
