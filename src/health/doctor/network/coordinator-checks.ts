import { explainSilence, findFunction, protocolOf } from "../../checks/chain-checks.ts";
import { type Finding, type HealthCheck, needed } from "../../checks/health-check.ts";
import type { NetworkTarget } from "./network-target.ts";
import type { NetworkView } from "./network-view.ts";

/** Returns the checks of the fullnode, its chain, and Ika's coordinator. */
export function coordinatorChecks(target: NetworkTarget, view: NetworkView): HealthCheck[] {
  return [
    {
      name: "fullnode",
      advice: "name a responding fullnode with --fullnode: https:// for gRPC-web, grpcs:// for native gRPC",
      look: () => lookAtFullnode(target, view),
    },
    {
      name: "chain",
      advice: "name a fullnode of this network with --fullnode",
      look: () => lookAtChain(target, view),
    },
    {
      name: "coordinator",
      advice: "use a release of this service whose Ika SDK supports the current coordinator",
      look: () => lookAtCoordinator(target, view),
    },
  ];
}

/** The coordinator's functions that the service calls directly. The Treasury calls the others. */
const OWN_CALLS = ["register_encryption_key", "accept_encrypted_user_share", "get_active_encryption_key"];

async function lookAtFullnode({ fullnodeUrl }: NetworkTarget, { client }: NetworkView): Promise<Finding> {
  const { host } = new URL(fullnodeUrl.reveal());
  const beganMs = performance.now();
  try {
    await client.core.getChainIdentifier();
  } catch (cause) {
    throw await explainSilence(fullnodeUrl, cause);
  }
  const latencyMs = Math.round(performance.now() - beganMs);
  return { status: "ok", found: `${host} responds in ${latencyMs} ms over ${protocolOf(fullnodeUrl)}` };
}

async function lookAtChain({ name, chainIdentifier }: NetworkTarget, view: NetworkView): Promise<Finding> {
  const found = await needed(view.client.core.getChainIdentifier(), "the fullnode does not answer");
  if (chainIdentifier === undefined)
    return { status: "info", found: `${found.chainIdentifier}; a localnet may have any identifier` };
  if (found.chainIdentifier !== chainIdentifier)
    throw new Error(`the fullnode serves ${found.chainIdentifier}, ${name} is ${chainIdentifier}`);
  return { status: "ok", found: `${chainIdentifier}, as expected` };
}

async function lookAtCoordinator({ ikaConfig }: NetworkTarget, view: NetworkView): Promise<Finding> {
  const { version, package_id: packageId, new_package_id: nextPackageId } = await view.coordinator();
  const { ikaDwallet2pcMpcPackage: called } = ikaConfig.packages;
  for (const name of OWN_CALLS) await findFunction(view.client, called, "coordinator", name);
  const found = `version ${version}, package ${packageId}`;
  if (packageId !== called)
    throw new Error(`${found}; this version calls package ${called}, whose functions may abort`);
  if (nextPackageId === null) return { status: "ok", found };
  return {
    status: "warn",
    found: `${found}; it moves to package ${nextPackageId}`,
    advice: "plan for a release of this service that calls the new package",
  };
}
