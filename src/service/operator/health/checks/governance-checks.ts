import { networkTraits } from "../../../../protocol/chain/network-traits.ts";
import { createNetworkReader } from "../../../chain/reader.ts";
import { readUpgradeCap } from "../../../chain/treasury/read-upgrade-cap.ts";
import { createTreasuryReader } from "../../../chain/treasury/treasury-reader.ts";
import {
  FEW_EPOCHS,
  MUCH_USED_SHARE,
  operatorUse,
  type TreasuryState,
} from "../../../chain/treasury/treasury-state.ts";
import { answering } from "./chain-checks.ts";
import { type Finding, type HealthChain, type HealthCheck, needed } from "./health-check.ts";

/** Returns the checks of the operators' expiry and limits, of the Treasury's governance, and of announcements. */
export function governanceChecks(chain: HealthChain): HealthCheck[] {
  const advice = "check that the fullnode responds, then run the doctor again";
  return [
    { name: "operator limits", advice, look: () => lookAtLimits(chain) },
    { name: "treasury holders", advice, look: () => lookAtHolders(chain) },
    { name: "treasury announcements", advice, look: () => lookAtAnnouncements(chain) },
  ];
}

const PERCENT = 100;

async function lookAtLimits(chain: HealthChain): Promise<Finding> {
  const { network, state } = await readState(chain);
  const { epoch } = await createNetworkReader(network).epoch();
  const own = state.operators.filter(({ capId }) => network.treasury.operatorCapIds.includes(capId));
  const uses = own.map((operator) => ({ ...operator, ...operatorUse(operator, epoch) }));
  const expired = uses.filter(({ epochsLeft }) => epochsLeft < 0n);
  const advice = "give them a later epoch or higher limits with `tss treasury renew-operator`";
  if (expired.length > 0)
    return { status: "fail", found: `expired: ${expired.map(({ capId }) => capId).join(", ")}`, advice };
  const low = uses.filter(
    ({ epochsLeft, usedShare }) => epochsLeft < FEW_EPOCHS || usedShare > MUCH_USED_SHARE,
  );
  const shown = (low.length > 0 ? low : uses).map(
    ({ capId, epochsLeft, usedShare }) =>
      `${capId.slice(0, 10)} has ${epochsLeft} epochs left and has used ${Math.floor(usedShare * PERCENT)}% of a limit`,
  );
  if (low.length > 0) return { status: "warn", found: shown.join("; "), advice };
  return { status: "ok", found: `${uses.length} operators with ${FEW_EPOCHS} epochs or more left` };
}

async function lookAtHolders(chain: HealthChain): Promise<Finding> {
  const client = await answering(chain);
  const { network, state } = await readState(chain);
  const { object } = await client.core.getObject({ objectId: network.treasury.treasuryId });
  const { objects } = await client.core.getObjects({ objectIds: [state.adminCapId] });
  const [cap] = objects;
  const admin = cap === undefined || cap instanceof Error ? undefined : cap.owner.AddressOwner;
  const upgrade = await readUpgradeCap(client, object.type.split("::")[0] ?? "");
  const upgradeHolder =
    upgrade.kind === "held"
      ? upgrade.holder
      : upgrade.kind === "unknown"
        ? `unknown, ${upgrade.why}`
        : "nobody";
  const found = `AdminCap: ${admin ?? "nobody"}; UpgradeCap: ${upgradeHolder}`;
  if (networkTraits(network.name).isDevelopment) return { status: "info", found };
  const own = [network.senderAddress, network.gasOwnerAddress];
  if (own.some((address) => address === admin || address === upgradeHolder)) {
    const advice =
      "move it to a key that is on none of the service's machines: `tss treasury rotate-admin` for the AdminCap";
    return { status: "warn", found: `${found}; the service's own key holds one of them`, advice };
  }
  return { status: "ok", found };
}

async function lookAtAnnouncements(chain: HealthChain): Promise<Finding> {
  const { adminOffer, successor, announcedDWalletIds: releases } = (await readState(chain)).state;
  const announced = [
    ...(releases.length > 0 ? [`the release of ${releases.length} dWallets`] : []),
    ...(successor ? [`the successor ${successor.to} from epoch ${successor.fromEpoch}`] : []),
    ...(adminOffer ? [`the administration for ${adminOffer.to} from epoch ${adminOffer.fromEpoch}`] : []),
  ];
  if (announced.length === 0) return { status: "ok", found: "none" };
  const advice =
    "make sure that the administrator did this: `tss treasury status` shows all of it; `tss treasury withdraw-release`, `tss treasury withdraw-successor` and `tss treasury rotate-admin withdraw` end it";
  return { status: "warn", found: announced.join("; "), advice };
}

async function readState(chain: HealthChain): Promise<{
  readonly network: Awaited<ReturnType<HealthChain["network"]>>;
  readonly state: TreasuryState;
}> {
  await answering(chain);
  const network = await needed(chain.network(), "Ika or the Treasury was not found, see above");
  return { network, state: await createTreasuryReader(network).state() };
}
