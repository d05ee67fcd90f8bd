import {
  CURVE_ALGORITHMS,
  CURVES,
  signatureAlgorithmOfNumbers,
  unsupportedAlgorithmName,
} from "../../../protocol/algorithms.ts";
import { parseStruct } from "../../../protocol/chain-objects.ts";
import { PresignSession } from "../../../protocol/chain-structs.ts";
import { PRESIGN_VERSION, presignVersion } from "../../../protocol/presign-version.ts";
import type { Finding, HealthCheck } from "../../checks/health-check.ts";
import type { CoordinatorState, NetworkView } from "./network-view.ts";

/** Returns the checks of the network's session prices and its presigns. */
export function sessionChecks(view: NetworkView): HealthCheck[] {
  return [
    {
      name: "prices",
      advice: "the network refuses sessions without a price; wait until its validators have set one",
      look: async () => lookAtPrices(await view.state()),
    },
    {
      name: "presigns",
      advice: "this version refuses signatures from such presigns; look for a newer release",
      look: () => lookAtPresigns(view),
    },
  ];
}

/** The protocols' numbers in the coordinator's prices. */
const DKG = 9;
const PRESIGN = 5;
const SIGN = 6;
const UNITS_PER_COIN = 1e9;

function lookAtPrices({ pricing_and_fee_manager: manager }: CoordinatorState): Finding {
  const entries = manager.current.pricing_map.contents;
  const priceOf = (curve: number, algorithm: number | null, protocol: number): string | undefined => {
    const value = entries.find(
      ({ key }) => key.curve === curve && key.signature_algorithm === algorithm && key.protocol === protocol,
    )?.value;
    if (value === undefined) return undefined;
    const sui =
      BigInt(value.gas_fee_reimbursement_sui) + BigInt(value.gas_fee_reimbursement_sui_for_system_calls);
    return `${inCoins(BigInt(value.fee_ika))} IKA + ${inCoins(sui)} SUI`;
  };
  const missing: string[] = [];
  const say = (what: string, price: string | undefined): string[] => {
    if (price === undefined) missing.push(what);
    return price === undefined ? [] : [`${what} ${price}`];
  };
  const found = [
    ...CURVES.flatMap((curve, number) => say(`${curve} DKG`, priceOf(number, null, DKG))),
    ...CURVE_ALGORITHMS.flatMap(({ signatureAlgorithm, curveNumber, signatureAlgorithmNumber }) => [
      ...say(`${signatureAlgorithm} presign`, priceOf(curveNumber, signatureAlgorithmNumber, PRESIGN)),
      ...say(`${signatureAlgorithm} signature`, priceOf(curveNumber, signatureAlgorithmNumber, SIGN)),
    ]),
  ];
  if (missing.length === 0) return { status: "ok", found: found.join("; ") };
  return {
    status: "warn",
    found: `no price for ${missing.join(", ")}${found.length === 0 ? "" : `; ${found.join("; ")}`}`,
    advice: "the network refuses these sessions until its validators have set a price",
  };
}

async function lookAtPresigns(view: NetworkView): Promise<Finding> {
  const ids = await view.idsIn((await view.state()).presign_sessions.id);
  const contents = await (await view.reader()).getObjects(ids);
  const counts = new Map<string, number>();
  let isUnreadable = false;
  for (const content of contents.values()) {
    const { curve, signature_algorithm: algorithm, state } = parseStruct("presign", PresignSession, content);
    if (state.$kind !== "Completed") continue;
    const version = presignVersion(Uint8Array.from(state.Completed));
    const name = signatureAlgorithmOfNumbers(curve, algorithm);
    // The service does not use these algorithms, so their presigns may have any version.
    isUnreadable ||= name !== undefined && version !== PRESIGN_VERSION;
    const shown =
      name ?? unsupportedAlgorithmName(curve, algorithm) ?? `curve ${curve}, algorithm ${algorithm}`;
    const kind = `${shown} of version ${version}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  if (counts.size === 0) return { status: "info", found: "the network holds no completed presign to check" };
  const found = [...counts].map(([kind, count]) => `${count} of ${kind}`).join("; ");
  if (isUnreadable) throw new Error(`${found}; version ${PRESIGN_VERSION} is needed`);
  return { status: "ok", found };
}

const inCoins = (amount: bigint): string => (Number(amount) / UNITS_PER_COIN).toString();
