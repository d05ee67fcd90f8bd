import {
  type NetworkPrices,
  type OperationPrice,
  readPrices,
} from "../../service/chain/treasury/read-prices.ts";
import {
  type AnnouncedRelease,
  readPriceCeilings,
  readReleases,
  type SharedTreasury,
} from "../../service/chain/treasury/read-treasury-object.ts";
import { readUpgradeCap, type UpgradeCapHolder } from "../../service/chain/treasury/read-upgrade-cap.ts";
import {
  ANNOUNCEMENT_WINDOW,
  FEW_EPOCHS,
  MUCH_USED_SHARE,
  operatorUse,
  spentIn,
  type TreasuryAnnouncement,
} from "../../service/chain/treasury/treasury-state.ts";
import { DAY_MS } from "../../service/platform/lifecycle/clock.ts";
import { formatCoins, formatPairs } from "../output/format.ts";
import { type OpenTreasury, readOwned } from "./open-treasury.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { nameOperation } from "./parameter-kinds.ts";
import { findOperation, formatCeilings, isServed, suffices } from "./price-ceilings.ts";

/** Reads a Treasury's status from the chain. */
export async function readStatus(opened: OpenTreasury): Promise<TreasuryStatus> {
  const { client, treasury, ikaConfig, name, chainIdentifier, packageId } = opened;
  const [epoch, ceilings, { prices }, releases, adminCap, upgradeCap] = await Promise.all([
    readEpoch(opened),
    readPriceCeilings(client, treasury),
    readPrices(client, ikaConfig.objects.ikaDWalletCoordinator.objectID),
    readReleases(client, treasury),
    readOwned(opened, treasury.adminCapId),
    readUpgradeCap(client, treasury.typePackageId),
  ]);
  return {
    network: name,
    chainIdentifier,
    packageId,
    treasury,
    epoch,
    ceilings,
    prices,
    releases,
    adminHolder: adminCap?.owner,
    upgradeCap,
  };
}

/** A Treasury, with the prices, capabilities and releases that concern it. */
interface TreasuryStatus {
  readonly network: string;
  readonly chainIdentifier: string;
  readonly packageId: string;
  readonly treasury: SharedTreasury;
  readonly epoch: ChainEpoch;
  readonly ceilings: readonly OperationPrice[];
  readonly prices: NetworkPrices["prices"];
  readonly releases: readonly AnnouncedRelease[];
  /** Undefined if no address holds the AdminCap. */
  readonly adminHolder: string | undefined;
  readonly upgradeCap: UpgradeCapHolder;
}

/** Formats a Treasury's status for an operator. */
export function describeStatus(status: TreasuryStatus): string {
  const { treasury, epoch, ceilings, prices, releases } = status;
  const when = (announced: TreasuryAnnouncement) =>
    `${announced.to}, from ${describeEpoch(announced.fromEpoch, epoch)}`;
  const served = (announced: TreasuryAnnouncement) =>
    `${when(announced)}, to epoch ${announced.fromEpoch + ANNOUNCEMENT_WINDOW - 1n}`;
  const head = formatPairs([
    ["network", `${status.network}, chain ${status.chainIdentifier}, epoch ${epoch.epoch}`],
    ["treasury", treasury.id],
    ["package", status.packageId],
    ["version", String(treasury.version)],
    ["paused", treasury.isPaused ? "YES: all payments are stopped" : "no"],
    ["holds", `${formatCoins(treasury.ika, "IKA")}, ${formatCoins(treasury.sui, "SUI")}`],
    ["capabilities", `${treasury.dwalletCount} dWallets, ${treasury.presignCount} presigns`],
    ["AdminCap", `${treasury.adminCapId}, held by ${status.adminHolder ?? "NOBODY"}`],
    ["pauser", treasury.pauser ?? "nobody"],
    ["recovery", treasury.recovery ?? "nobody"],
    ["offered to", treasury.adminOffer && when(treasury.adminOffer)],
    ["successor", treasury.successor && served(treasury.successor)],
    ...releases.map((release): [string, string] => [
      "release",
      `dWallet ${release.dwalletId} of ${release.owner} to ${served(release)}`,
    ]),
    ["UpgradeCap", describeUpgradeCap(status.upgradeCap)],
  ]);
  const shown = ceilings.map((ceiling) => ({ ...ceiling, price: findOperation(prices, ceiling) }));
  return [head, formatCeilings(shown), ...describeOperators(status)].join("\n\n");
}

/** Returns warnings about price ceilings, expiries and limits. */
export function warningsOf({ treasury, epoch, ceilings, prices }: TreasuryStatus): string[] {
  const warnings: string[] = [];
  for (const price of prices.filter(isServed)) {
    const ceiling = findOperation(ceilings, price);
    if (ceiling === undefined)
      warnings.push(`${nameOperation(price)} has no ceiling: the service cannot run it`);
    else if (!suffices(ceiling, price))
      warnings.push(
        `${nameOperation(price)} costs more than its ceiling: raise it with \`tss treasury set-ceiling\``,
      );
  }
  for (const operator of treasury.operators) {
    const { capId } = operator;
    const { epochsLeft, usedShare } = operatorUse(operator, epoch.epoch);
    if (epochsLeft < 0n)
      warnings.push(`the OperatorCap ${capId} has expired: renew it with \`tss treasury renew-operator\``);
    else if (epochsLeft < FEW_EPOCHS)
      warnings.push(
        `the OperatorCap ${capId} expires in ${epochsLeft} epochs: renew it with \`tss treasury renew-operator\``,
      );
    if (usedShare > MUCH_USED_SHARE)
      warnings.push(
        `the OperatorCap ${capId} has used ${Math.floor(usedShare * 100)}% of a limit: raise it with \`tss treasury renew-operator\``,
      );
  }
  return warnings;
}

function describeOperators({ treasury, epoch }: TreasuryStatus): string[] {
  return treasury.operators.map((operator) => {
    const { capId, holder, expiresEpoch, limits } = operator;
    const spent = spentIn(operator, epoch.epoch);
    const coins = (of: "ika" | "sui", name: "IKA" | "SUI") =>
      `${formatCoins(spent[of], name)} of ${isUnbounded(limits[of]) ? "any" : formatCoins(limits[of], name)}`;
    const count = (of: "dkgs" | "presigns" | "signs", what: string) =>
      `${spent[of]} of ${isUnbounded(limits[of]) ? "any" : limits[of]} ${what}`;
    return formatPairs([
      ["OperatorCap", capId],
      ["  holder", holder],
      ["  expires", isUnbounded(expiresEpoch) ? "never" : `after ${describeEpoch(expiresEpoch, epoch)}`],
      ["  this epoch", `${coins("ika", "IKA")}, ${coins("sui", "SUI")}`],
      [
        "  and",
        [count("dkgs", "DKGs"), count("presigns", "presigns"), count("signs", "signatures")].join(", "),
      ],
    ]);
  });
}

/** Describes who can change the package. */
function describeUpgradeCap(cap: UpgradeCapHolder): string {
  switch (cap.kind) {
    case "held":
      return `${cap.capId}, held by ${cap.holder}; ${POLICIES[cap.policy] ?? `policy ${cap.policy}`}`;
    case "destroyed":
      return `${cap.capId} no longer exists, or is inside another object`;
    case "built-in":
      return "none: the package is built into the local network, and nobody can upgrade it";
    case "unknown":
      return `unknown: ${cap.why}`;
  }
}

const POLICIES: Readonly<Record<number, string>> = {
  0: "any compatible change",
  128: "additions only",
  192: "dependencies only",
};

function isUnbounded(limit: bigint): boolean {
  return limit === 2n ** 64n - 1n;
}

/** Reads the current epoch. */
export async function readEpoch({ client }: Pick<TreasuryChain, "client">): Promise<ChainEpoch> {
  const { systemState } = await client.core.getCurrentSystemState();
  return { epoch: BigInt(systemState.epoch), startMs: Number(systemState.epochStartTimestampMs) };
}

interface ChainEpoch {
  readonly epoch: bigint;
  readonly startMs: number;
}

/** Describes an epoch with its approximate start: `epoch 120, about 2026-12-06`. */
export function describeEpoch(wanted: bigint, { epoch, startMs }: ChainEpoch): string {
  if (wanted <= epoch) return `epoch ${wanted}, which has begun`;
  const ahead = wanted - epoch;
  if (ahead > MOST_AHEAD) return `epoch ${wanted}, years from now`;
  return `epoch ${wanted}, about ${new Date(startMs + Number(ahead) * DAY_MS).toISOString().slice(0, 10)}`;
}

/** An epoch takes about a day. */
const MOST_AHEAD = 3_650n;
