import {
  CURVE_ALGORITHMS,
  CURVES,
  signatureAlgorithmOfNumbers,
  unsupportedAlgorithmName,
} from "../../../../../protocol/algorithms.ts";
import { parseStruct } from "../../../../../protocol/chain/chain-objects.ts";
import { PresignSession } from "../../../../../protocol/chain/chain-structs.ts";
import { PRESIGN_VERSION, presignVersion } from "../../../../../protocol/presign-version.ts";
import { formatDollars, signPrice } from "../../../../../protocol/price-table.ts";
import { PROTOCOLS, type PricedOperation, totalPrice } from "../../../../chain/treasury/read-prices.ts";
import type { SessionPrice } from "../../../../chain/treasury/treasury-reader.ts";
import { type Finding, type HealthCheck, NotChecked } from "../../checks/health-check.ts";
import type { CoordinatorState, NetworkTarget, NetworkView } from "./network-view.ts";

/** Returns the checks of the network's session prices, also against the service's own, and of its presigns. */
export function sessionChecks(target: NetworkTarget, view: NetworkView): HealthCheck[] {
  return [
    {
      name: "prices",
      advice: "the network refuses sessions without a price; wait until its validators have set one",
      look: async () => lookAtPrices(await view.state()),
    },
    {
      name: "own prices",
      advice: "the prices of the network cannot be read, see above",
      look: async () => lookAtOwnPrices(target, await view.state()),
    },
    {
      name: "presigns",
      advice: "this version refuses signatures from such presigns; look for a newer release",
      look: () => lookAtPresigns(view),
    },
  ];
}

const UNITS_PER_COIN = 1e9;

function lookAtPrices(state: CoordinatorState): Finding {
  const missing: string[] = [];
  const found = operationsOf(state).flatMap(({ name, price }) => {
    if (price === undefined) missing.push(name);
    return price === undefined ? [] : [`${name} ${inCoins(price.ika)} IKA + ${inCoins(price.sui)} SUI`];
  });
  if (missing.length === 0) return { status: "ok", found: found.join("; ") };
  return {
    status: "warn",
    found: `no price for ${missing.join(", ")}${found.length === 0 ? "" : `; ${found.join("; ")}`}`,
    advice: "the network refuses these sessions until its validators have set a price",
  };
}

/** Compares what the service charges with what the network takes for it. Both are without gas. */
function lookAtOwnPrices({ prices, coinPrices }: NetworkTarget, state: CoordinatorState): Finding {
  const [ikaPicoUsd, suiPicoUsd] = [coinPrices.fixed.get("IKA"), coinPrices.fixed.get("SUI")];
  if (ikaPicoUsd === undefined || suiPicoUsd === undefined)
    throw new NotChecked("BILLING_USD_PRICES has no price of SUI and IKA to compare with");
  const costOf = (name: string): bigint | undefined => {
    const price = operationsOf(state).find((each) => each.name === name)?.price;
    return price && price.ika * ikaPicoUsd + price.sui * suiPicoUsd;
  };
  const rows = [
    ...CURVES.map((curve) => ({
      what: `a DKG on ${curve}`,
      chargedMicroUsd: prices.dkgMicroUsd,
      costs: [costOf(`${curve} DKG`)],
    })),
    ...CURVE_ALGORITHMS.map(({ signatureAlgorithm: algorithm }) => ({
      what: `a signature with ${algorithm}`,
      chargedMicroUsd: signPrice(prices, algorithm),
      costs: [costOf(`${algorithm} presign`), costOf(`${algorithm} signature`)],
    })),
  ].flatMap(({ costs, ...row }) => {
    const known = costs.filter((cost) => cost !== undefined);
    if (known.length < costs.length) return [];
    const sum = known.reduce((total, cost) => total + cost, 0n);
    const costMicroUsd = (sum + PICO_PER_MICRO_UNIT - 1n) / PICO_PER_MICRO_UNIT;
    return [{ ...row, costMicroUsd }];
  });
  const shown = (some: typeof rows): string =>
    some
      .map(
        ({ what, chargedMicroUsd, costMicroUsd }) =>
          `${what} costs ${formatDollars(costMicroUsd)} and is charged at ${formatDollars(chargedMicroUsd)}`,
      )
      .join("; ");
  const losing = rows.filter(({ chargedMicroUsd, costMicroUsd }) => chargedMicroUsd < costMicroUsd);
  if (losing.length === 0) return { status: "ok", found: shown(rows) };
  return {
    status: "warn",
    found: shown(losing),
    advice:
      "raise BILLING_PRICE_SIGN_MICRO_USD, BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD or BILLING_PRICE_DKG_MICRO_USD",
  };
}

/** 10^9 units of a coin, and 10^6 pico-USD in a micro-USD. */
const PICO_PER_MICRO_UNIT = 10n ** 15n;

/** Returns every operation that the service pays for, with the network's price if there is one. */
function operationsOf({ pricing_and_fee_manager: manager }: CoordinatorState): PricedName[] {
  const entries = manager.current.pricing_map.contents;
  const priceOf = (operation: PricedOperation, curve: number, algorithm: number | null) => {
    const entry = entries.find(
      ({ key }) =>
        key.curve === curve && key.signature_algorithm === algorithm && key.protocol === PROTOCOLS[operation],
    );
    return entry && totalPrice(entry.value);
  };
  return [
    ...CURVES.map((curve, number) => ({ name: `${curve} DKG`, price: priceOf("dkg", number, null) })),
    ...CURVE_ALGORITHMS.flatMap(({ signatureAlgorithm, curveNumber, signatureAlgorithmNumber: number }) => [
      { name: `${signatureAlgorithm} presign`, price: priceOf("presign", curveNumber, number) },
      { name: `${signatureAlgorithm} signature`, price: priceOf("sign", curveNumber, number) },
    ]),
  ];
}

interface PricedName {
  readonly name: string;
  readonly price: SessionPrice | undefined;
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
