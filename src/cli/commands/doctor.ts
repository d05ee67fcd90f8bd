import { NETWORK_NAMES, type NetworkName } from "../../service/config/network.ts";
import type { NamedFinding } from "../../service/operator/health/checks/health-check.ts";
import { command, EXIT, UsageError } from "../command-line/command.ts";
import { choiceOf, flag, fullnodeUrl, optional } from "../command-line/option.ts";

export const doctorCommand = command({
  summary: "check everything that the service needs, and give advice",
  details:
    "Changes nothing. You can run it beside a running service. Exits with 1 if something is wrong.\n" +
    "With --network, it checks a network step by step instead, before a first run there:\n" +
    "fullnode, chain, coordinator, network keys, prices, presigns, and a dry run of each call\n" +
    "if a Treasury is configured.\n" +
    "With --only, it leaves out the checks of the other networks of NETWORKS.",
  options: {
    network: optional(
      "<network>",
      `check this network: ${NETWORK_NAMES.join(", ")}`,
      choiceOf(NETWORK_NAMES),
    ),
    fullnode: optional("<url>", "with --network: the fullnode to check", fullnodeUrl),
    only: optional("<network>", "of the networks of NETWORKS, check only this one", choiceOf(NETWORK_NAMES)),
    json: flag("print a JSON object"),
  },
  async run({ network: name, fullnode, only, json }, { environment, print }) {
    if (name === undefined && fullnode !== undefined) throw new UsageError("--fullnode needs --network");
    if (name !== undefined && only !== undefined)
      throw new UsageError("--only and --network exclude each other");
    const findings = await (name === undefined ? checkService() : checkNetwork(name));
    const isHealthy = findings.every(({ status }) => status !== "fail");
    print(json ? JSON.stringify({ isHealthy, findings }, undefined, 2) : describe(findings));
    return isHealthy ? EXIT.done : EXIT.failed;

    async function checkService(): Promise<readonly NamedFinding[]> {
      const { runDoctor } = await import("../../service/operator/health/doctor/doctor.ts");
      return await runDoctor(environment, { only });
    }

    async function checkNetwork(target: NetworkName): Promise<readonly NamedFinding[]> {
      const { runNetworkDoctor } = await import(
        "../../service/operator/health/doctor/network/network-doctor.ts"
      );
      return await runNetworkDoctor({ name: target, fullnodeUrl: fullnode }, environment);
    }
  },
});

function describe(findings: readonly NamedFinding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings
    .flatMap(({ name, status, found, advice }) => [
      `${status.padEnd(4)}  ${name.padEnd(width)}  ${found}`,
      ...(advice === undefined ? [] : [`${" ".repeat(width + 8)}-> ${advice}`]),
    ])
    .join("\n");
}
