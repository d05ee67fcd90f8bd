import { CURVES, curveNumber } from "../../../../../protocol/algorithms.ts";
import { parseNetworkEncryptionKey } from "../../../../../protocol/chain/chain-objects.ts";
import {
  currentEpoch,
  networkKeysTableId,
  readKeyOutputs,
} from "../../../../../protocol/chain/coordinator-objects.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../../../protocol/parameters/build-protocol-parameters.ts";
import { chooseKeyOutput } from "../../../../../protocol/parameters/network-key-output.ts";
import { createRedact } from "../../../../platform/telemetry/redact.ts";
import { explainSilence, findFunction, protocolOf } from "../../checks/chain-checks.ts";
import {
  type Finding,
  type HealthCheck,
  type NamedFinding,
  NotChecked,
  needed,
  once,
  runChecks,
} from "../../checks/health-check.ts";
import { dryRunChecks } from "./dry-run-checks.ts";
import {
  findTarget,
  type NetworkTarget,
  type NetworkView,
  openNetworkView,
  type TargetOptions,
} from "./network-view.ts";
import { sessionChecks } from "./session-checks.ts";

/**
 * Checks step by step everything that a first run on a network needs: fullnode, chain, coordinator, network keys,
 * prices, presigns, and a dry run of each call. Only the dry runs need a configuration. Signs and pays nothing.
 */
export async function runNetworkDoctor(
  options: TargetOptions,
  environment?: NodeJS.ProcessEnv,
): Promise<NamedFinding[]> {
  let target: NetworkTarget;
  try {
    target = await findTarget(options, environment);
  } catch (error) {
    if (!(error instanceof NotChecked)) throw error;
    return [{ name: "network", status: "fail", found: error.message, advice: "start it, or set its URL" }];
  }
  const view = openNetworkView(target);
  const checks = [
    ...coordinatorChecks(target, view),
    ...keyChecks(view),
    ...sessionChecks(target, view),
    ...dryRunChecks(target, view),
  ];
  const redact = createRedact(target.secrets);
  const findings = await runChecks(checks, TIMEOUT_MS);
  return findings.map((finding) => ({ ...finding, found: redact(finding.found) }));
}

/** Leaves time to read a large key in many parts, and to compute parameters for a second or two on one core. */
const TIMEOUT_MS = 60_000;

/** Returns the checks of the fullnode, its chain, and Ika's coordinator. */
function coordinatorChecks(target: NetworkTarget, view: NetworkView): HealthCheck[] {
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

/** Returns the checks that this version can read the outputs of the network's encryption keys. */
function keyChecks(view: NetworkView): HealthCheck[] {
  const keys = once(() => readKeys(view));
  return [
    {
      name: "network keys",
      advice: "the client cannot use a key with an unreadable output; look for a newer release",
      async look() {
        const found = await keys();
        if (found.length === 0) throw new Error("the network has no encryption key");
        return { status: "ok", found: found.map(describe).join("; ") };
      },
    },
    {
      name: "parameters",
      advice: "the key's output is inconsistent; report it with the findings above",
      look: async () => lookAtParameters(await needed(keys(), "no network key can be read, see above")),
    },
  ];
}

/** A network key with its readable outputs. */
interface FoundKey {
  readonly id: string;
  /** The versions of its outputs, the newest output first. */
  readonly versions: readonly number[];
  /** The content that all readable outputs share. */
  readonly output: Uint8Array;
}

async function readKeys(view: NetworkView): Promise<FoundKey[]> {
  const reader = await view.reader();
  const inner = await view.innerContent();
  const ids = await view.idsIn(networkKeysTableId(inner));
  const contents = await reader.getObjects(ids);
  const found: FoundKey[] = [];
  for (const id of ids) {
    const content = contents.get(id);
    if (content === undefined) throw new Error(`the fullnode lacks the network key ${id}`);
    const key = parseNetworkEncryptionKey(content);
    const outputs = await readKeyOutputs(key, currentEpoch(inner), (_, objectIds) =>
      reader.getObjects(objectIds),
    );
    found.push({ id, versions: outputs.map(([tag = 0]) => tag + 1), output: chooseKeyOutput(outputs) });
  }
  return found;
}

function describe({ id, versions }: FoundKey): string {
  const [first, anchor] = versions;
  return anchor === undefined
    ? `${id}: its DKG output is of version ${first}, and it was never reconfigured`
    : `${id}: its newest reconfiguration is of version ${first}, its DKG output of version ${anchor}`;
}

function lookAtParameters(keys: readonly FoundKey[]): Finding {
  const sizes = CURVES.map((curve) => {
    // The tables would say no more about the key, and hold up the other checks for seconds.
    const built = keys.map(({ output }) => buildProtocolParameters(curveNumber(curve), output, NO_TABLES));
    return `${curve} ${built.map(({ length }) => length).join(", ")} bytes`;
  });
  return {
    status: "ok",
    found: `built from ${keys.length === 1 ? "the key" : `each of ${keys.length} keys`}: ${sizes.join("; ")}`,
  };
}
