import { describe, expect, it } from "vitest";
import { CHAIN_PINS } from "../../../../src/client/sdk/chain/network.ts";
import { loadClientConfig, readConfig } from "../../../../src/service/config/config.ts";
import { ConfigError } from "../../../../src/service/config/variables/config-variable.ts";
import { CONFIG_VARIABLES } from "../../../../src/service/config/variables.ts";
import { readSource } from "../../../support/repository/source-files.ts";

/** URLs that nothing of ours connects to. */
const NOT_OUTBOUND = ["SUI_GRPC_PUBLIC_URL_<NETWORK>", "PUBLIC_URLS"];

const section = /^## Network\n(.*?)^## /ms.exec(readSource("docs/operations/deploy.md").text)?.[1] ?? "";
/** The rows of the table of outbound connections, each as its cells. */
const rows = section
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, destination = "", variables = ""]) => ({ destination, variables }));

describe("the table of outbound connections", () => {
  it("lists each variable that takes a URL, and no other", () => {
    const taking = new Set(
      CONFIG_VARIABLES.filter(({ name }) => takesUrl(name)).map(({ name }) => ofEachNetwork(name)),
    );
    for (const name of NOT_OUTBOUND) expect(taking.delete(name), name).toBe(true);
    const listed = rows.flatMap(({ variables }) => [...variables.matchAll(/`([A-Z][^`]*)`/g)]);
    expect(listed.map(([, name]) => name).toSorted()).toEqual([...taking].toSorted());
  });

  it("names the hosts that are called without any configuration", () => {
    const defaults = CONFIG_VARIABLES.flatMap((variable) =>
      "default" in variable ? [variable.default] : [],
    );
    const pyth = readConfig({ BILLING_PRICE_SOURCES: "pyth" }).config.networks[0].deposits.prices.sources
      ?.pyth;
    const urls = [...defaults.filter((text) => text.includes("://")), pyth?.url.reveal() ?? ""];
    const hosts = urls.map((url) => new URL(url).hostname);
    for (const [network, { fullnodeUrls }] of Object.entries(CHAIN_PINS))
      hosts.push(...fullnodeUrls.map((url) => new URL(url).hostname.replace(network, "<network>")));
    expect(new Set(hosts).size).toBe(3);
    for (const host of hosts)
      expect(
        rows.some(({ destination }) => destination.includes(host)),
        host,
      ).toBe(true);
  });
});

/** Whether the service or the command refuses a value of the variable because it is no URL. */
function takesUrl(name: string): boolean {
  const faults = ["localnet", "testnet", "mainnet"].flatMap(
    (NETWORKS) => readConfig({ NETWORKS, [name]: "nonsense" }).faults,
  );
  return [...faults, ...clientFaults({ [name]: "nonsense" })].some(
    (fault) => fault.startsWith(`${name}: `) && /URLs?\b|:\/\//.test(fault),
  );
}

function clientFaults(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadClientConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const ofEachNetwork = (name: string): string => name.replace(/_(?:TESTNET|MAINNET)$/, "_<NETWORK>");
