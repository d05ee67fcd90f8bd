import { bcs } from "@mysten/sui/bcs";
import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import { Address } from "../../../../protocol/chain/fast-bcs.ts";
import { createNetworkReader } from "../../../chain/reader.ts";
import { LOW_GAS_MIST, readLaneGas } from "../../../chain/submit/lane-gas.ts";
import { createTreasuryReader } from "../../../chain/treasury/treasury-reader.ts";
import type { TreasuryState } from "../../../chain/treasury/treasury-state.ts";
import { isSchemaMissing } from "../../../platform/store/sql-errors.ts";
import { affordableSigns } from "../../metrics/chain-figures.ts";
import { answering, findFunction, missingObjects } from "./chain-checks.ts";
import {
  type Finding,
  type HealthChain,
  type HealthCheck,
  type NetworkSubject,
  needed,
  reachable,
} from "./health-check.ts";

/** Returns the checks of the Treasury, the caps that spend from it, and the coins that pay for gas. */
export function treasuryChecks(subject: NetworkSubject): HealthCheck[] {
  const { chain } = subject;
  return [
    {
      name: "treasury",
      advice: "set SERVICECORE_<NETWORK>_PACKAGE_ID and _TREASURY_ID to what was published on this network",
      look: () => lookAtTreasury(chain),
    },
    {
      name: "operator caps",
      advice: "set SERVICECORE_<NETWORK>_OPERATOR_CAP_IDS to the caps that the hot wallet owns",
      look: () => lookAtCaps(chain),
    },
    {
      name: "treasury balance",
      advice: "check that the fullnode responds, then run the doctor again",
      look: () => lookAtBalance(chain),
    },
    {
      name: "gas",
      advice: "check that the fullnode responds, then run the doctor again",
      look: () => lookAtGas(subject),
    },
  ];
}

/** `VERSION` of `move/treasury`. Its functions abort for a Treasury with another version. */
const TREASURY_VERSION = 1n;
/** Warns if the Treasury can pay for fewer signatures than this. */
const FEW_SIGNS_COUNT = 1_000;
const UNITS_PER_COIN = 1e9;

async function lookAtTreasury(chain: HealthChain): Promise<Finding> {
  const client = await answering(chain);
  const { treasury } = await chain.access();
  const [missing] = await missingObjects(client, [treasury.treasuryId]);
  if (missing !== undefined) throw new Error(`no object exists at ${missing}`);
  const { object } = await client.core.getObject({ objectId: treasury.treasuryId });
  if (!object.type.endsWith("::treasury::Treasury"))
    throw new Error(`${treasury.treasuryId} is a ${object.type}, not a Treasury`);
  await findFunction(client, treasury.packageId, "treasury", "pay_sign");
  const { version, isPaused } = await readTreasury(chain);
  const found = `version ${version}${isPaused ? ", paused" : ""}`;
  if (version !== TREASURY_VERSION) {
    const advice = `use a Treasury of version ${TREASURY_VERSION}, or the matching release of the service`;
    return { status: "fail", found, advice };
  }
  if (isPaused)
    return {
      status: "fail",
      found,
      advice: "the Treasury pays nothing until its administrator runs `tss treasury unpause`",
    };
  return { status: "ok", found };
}

const Cap = bcs.struct("OperatorCap", { id: Address, treasury_id: Address });

async function lookAtCaps(chain: HealthChain): Promise<Finding> {
  const client = await answering(chain);
  const { treasury } = await chain.access();
  const { senderAddress } = await connected(chain);
  const { operators } = await readTreasury(chain);
  const operatorCapIds = operators.map(({ capId }) => capId);
  const { objects } = await client.core.getObjects({
    objectIds: [...treasury.operatorCapIds],
    include: { content: true },
  });
  const faults = treasury.operatorCapIds.flatMap((id, index) => {
    const object = objects[index];
    if (object === undefined || object instanceof Error) return [`${id} does not exist`];
    if (!object.type.endsWith("::treasury::OperatorCap")) return [`${id} is a ${object.type}`];
    if (object.owner.$kind !== "AddressOwner" || object.owner.AddressOwner !== senderAddress)
      return [`${id} does not belong to the hot wallet`];
    if (Cap.parse(object.content).treasury_id !== treasury.treasuryId)
      return [`${id} belongs to another Treasury`];
    return operatorCapIds.includes(id) ? [] : [`${id} was revoked`];
  });
  if (faults.length > 0) throw new Error(`${faults.join("; ")}; the hot wallet is ${senderAddress}`);
  return {
    status: "ok",
    found: `${treasury.operatorCapIds.length}, owned by the hot wallet ${senderAddress}`,
  };
}

async function lookAtBalance(chain: HealthChain): Promise<Finding> {
  await answering(chain);
  const state = await readTreasury(chain);
  const count = affordableSigns(state, await createTreasuryReader(await connected(chain)).signPrices());
  const found = `${inCoins(state.ika)} IKA and ${inCoins(state.sui)} SUI, enough for ${count} signatures`;
  const advice = "deposit IKA and SUI with `tss treasury fund`, which anyone can do";
  if (count === 0) return { status: "fail", found, advice };
  return count < FEW_SIGNS_COUNT ? { status: "warn", found, advice } : { status: "ok", found };
}

async function lookAtGas(subject: NetworkSubject): Promise<Finding> {
  const { chain } = subject;
  await answering(chain);
  const network = await connected(chain);
  const { gasOwnerAddress, treasury } = network;
  const reader = createNetworkReader(network);
  const laneIds = treasury.operatorCapIds;
  const db = await reachable(subject).catch(() => undefined);
  const shares =
    db && (await readLaneGas({ database: db, network, reader, laneIds }).catch(ignoreMissingSchema));
  const outside = await reader.addressBalance(gasOwnerAddress, SUI_TYPE_ARG);
  const coins = await reader.gasCoins(gasOwnerAddress);
  const total = coins.reduce((sum, { balanceMist }) => sum + balanceMist, outside);
  const low = shares?.lanes.filter(({ balanceMist }) => balanceMist < LOW_GAS_MIST) ?? [];
  const isSpread = shares !== undefined && shares.spare.length === 0 && low.length > 0;
  const found = [
    `${inCoins(total)} SUI of ${gasOwnerAddress} for ${laneIds.length} lanes`,
    ...(outside > 0n ? [`${inCoins(outside)} SUI of it in the address balance`] : []),
    ...(isSpread ? [`${low.length} have less than ${inCoins(LOW_GAS_MIST)} SUI`] : []),
  ].join("; ");
  const advice = `send SUI to ${gasOwnerAddress}; a lane needs ${inCoins(2n * LOW_GAS_MIST)} SUI or more`;
  if (total === 0n) return { status: "fail", found, advice };
  const isLow = total < BigInt(laneIds.length) * LOW_GAS_MIST;
  return isLow || isSpread ? { status: "warn", found, advice } : { status: "ok", found };
}

/** Ignores a database that is not migrated, because it has no lanes yet. */
function ignoreMissingSchema(error: unknown): undefined {
  if (!isSchemaMissing(error)) throw error;
}

const connected = (chain: HealthChain) =>
  needed(chain.network(), "Ika or the Treasury was not found, see above");

async function readTreasury(chain: HealthChain): Promise<TreasuryState> {
  return createTreasuryReader(await connected(chain)).state();
}

const inCoins = (amount: bigint): string =>
  (Number(amount) / UNITS_PER_COIN).toLocaleString("en-US", { maximumFractionDigits: 3 });
