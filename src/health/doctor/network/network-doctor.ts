import { createRedact } from "../../../telemetry/redact.ts";
import { type NamedFinding, NotChecked, runChecks } from "../../checks/health-check.ts";
import { coordinatorChecks } from "./coordinator-checks.ts";
import { dryRunChecks } from "./dry-run-checks.ts";
import { keyChecks } from "./key-checks.ts";
import { findTarget, type NetworkTarget, type TargetOptions } from "./network-target.ts";
import { openNetworkView } from "./network-view.ts";
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
