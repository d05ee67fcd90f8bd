import { CoordinatorInnerDynamicField } from "@ika.xyz/sdk";
import { presentObjects } from "../../../protocol/chain/chain-reader.ts";
import { coordinatorInnerId } from "../../../protocol/chain/coordinator-objects.ts";
import { Address } from "../../../protocol/chain/fast-bcs.ts";
import { TreasuryObject } from "../../../protocol/chain/treasury-custody.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import { retryRead } from "../fullnodes/retry-read.ts";
import {
  type OperationPrice,
  PROTOCOLS,
  type PricedOperation,
  type PriceEntry,
  totalPrice,
} from "./read-prices.ts";
import { listFields, readPriceCeilings } from "./read-treasury-object.ts";
import { type TreasuryBalances, type TreasuryState, treasuryState } from "./treasury-state.ts";

/** Creates a reader that uses the network's client. */
export function createTreasuryReader(network: ChainNetwork): TreasuryReader {
  const { core } = network.client;
  const read = retryRead(network);
  const contentOf = async (objectId: string) => {
    const { object } = await read((signal) =>
      core.getObject({ objectId, include: { content: true }, signal }),
    );
    return object.content;
  };
  const treasury = async () => TreasuryObject.parse(await contentOf(network.treasuryRef.objectId));

  return {
    async state() {
      return treasuryState(await treasury());
    },
    async signPrices() {
      const entries = await pricing();
      return entries
        .filter(({ key }) => key.protocol === PROTOCOLS.sign)
        .flatMap(({ key: { curve, signature_algorithm: signatureAlgorithm }, value }) => {
          const presign = priceIn(entries, { curve, signatureAlgorithm, session: "presign" });
          const sign = totalPrice(value);
          if (presign === undefined || signatureAlgorithm === null) return [];
          return [{ curve, signatureAlgorithm, ika: presign.ika + sign.ika, sui: presign.sui + sign.sui }];
        });
    },
    async balances() {
      const { ika, sui } = await treasury();
      return { ika: BigInt(ika), sui: BigInt(sui) };
    },
    async ceilings() {
      return readPriceCeilings(network.client, { ceilingsId: (await treasury()).ceilings.id }, read);
    },
    async heldPresigns() {
      const { id } = (await treasury()).custody.presign_caps;
      const fields = await listFields(network.client, id, MAX_HELD_COUNT, read);
      const held: HeldPresign[] = [];
      for (let index = 0; index < fields.length; index += OBJECTS_PER_CALL) {
        const page = fields.slice(index, index + OBJECTS_PER_CALL);
        const objectIds = page.map(({ fieldId }) => fieldId);
        const include = { previousTransaction: true } as const;
        const { objects } = await read((signal) => core.getObjects({ objectIds, include, signal }));
        const nameOf = new Map(page.map(({ fieldId, name }) => [fieldId, name]));
        // A used entry no longer exists.
        for (const object of presentObjects(objects)) {
          const name = nameOf.get(object.objectId);
          if (!object.previousTransaction || name === undefined) continue;
          held.push({ presignId: Address.parse(name), digest: object.previousTransaction });
        }
      }
      return held;
    },
  };

  async function pricing(): Promise<PriceEntry[]> {
    return (await coordinatorInner()).pricing_and_fee_manager.current.pricing_map.contents;
  }

  /** Bypasses the Ika client, which caches the first result forever. */
  async function coordinatorInner() {
    const { objectId } = network.coordinatorRef;
    const innerId = coordinatorInnerId(objectId, await contentOf(objectId));
    return CoordinatorInnerDynamicField.parse(await contentOf(innerId)).value;
  }
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
export type PricedSession = Exclude<PricedOperation, "dkg">;

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
  ceilings(): Promise<OperationPrice[]>;
  /** Returns the prices of all algorithms for which the network has a price. */
  signPrices(): Promise<SignPrice[]>;
  /** Returns all paid, unused presigns, in no particular order. */
  heldPresigns(): Promise<HeldPresign[]>;
}

const OBJECTS_PER_CALL = 50;
/** The bound of a list that the pool keeps far shorter. */
const MAX_HELD_COUNT = 1_000_000;

function priceIn(
  entries: readonly PriceEntry[],
  wanted: { curve: number; signatureAlgorithm: number | null; session: PricedSession },
): SessionPrice | undefined {
  const entry = entries.find(
    ({ key }) =>
      key.curve === wanted.curve &&
      key.signature_algorithm === wanted.signatureAlgorithm &&
      key.protocol === PROTOCOLS[wanted.session],
  );
  return entry && totalPrice(entry.value);
}
