import { SuiGrpcClient } from "@mysten/sui/grpc";
import sql from "sql-template-tag";
import { isNativeGrpcUrl } from "../../../../protocol/chain/native-grpc.ts";
import { canBeChainOf } from "../../../../protocol/chain/network-traits.ts";
import type { NetworkAccess } from "../../../chain/fullnodes/network.ts";
import { text } from "../../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../../platform/store/database.ts";
import { isSchemaMissing } from "../../../platform/store/sql-errors.ts";
import { Secret } from "../../../platform/telemetry/secret.ts";
import { fetchInTime } from "../fetch-in-time.ts";
import {
  type Finding,
  type HealthChain,
  type HealthCheck,
  type NetworkSubject,
  NotChecked,
  needed,
  reachable,
} from "./health-check.ts";

/** Returns the checks of the fullnode and of its chain. */
export function chainChecks(subject: NetworkSubject): HealthCheck[] {
  const { chain } = subject;
  return [
    {
      name: "fullnode",
      advice:
        "check that the fullnode runs and that SUI_GRPC_URL_<NETWORK> (LOCALNET_URL) names its gRPC port",
      readiness: {
        isVital: false,
        reason:
          "no fullnode of this chain answers, so accepted requests wait: check the fullnode's URL and that it runs",
      },
      look: () => lookAtFullnode(subject),
    },
    {
      name: "chain",
      advice:
        "check that SUI_GRPC_URL_<NETWORK> names a fullnode of that network, and that the user of DATABASE_URL may read the table known_network",
      look: () => lookAtChain(subject),
    },
    {
      name: "ika",
      advice: "point the fullnode's URL at the network in NETWORKS; Ika's ids come from this version's SDK",
      look: () => lookAtIka(chain),
    },
  ];
}

/** A fullnode that is slower than this for the cheapest call delays every signature. */
const SLOW_MS = 1_000;

/** Returns the client of a fullnode that answers. Throws {@link NotChecked} if it does not. */
export async function answering(chain: HealthChain): Promise<SuiGrpcClient> {
  const client = await needed(chain.client(), "no network is available");
  await needed(client.core.getChainIdentifier(), "the fullnode does not answer");
  return client;
}

/** Returns the ids of the objects that the fullnode lacks. */
export async function missingObjects(client: SuiGrpcClient, objectIds: readonly string[]): Promise<string[]> {
  const { objects } = await client.core.getObjects({ objectIds: [...objectIds] });
  return objectIds.filter((_, index) => objects[index] === undefined || objects[index] instanceof Error);
}

async function lookAtFullnode({ chain, isOpen }: NetworkSubject): Promise<Finding> {
  const access = await chain.access();
  const { name, fullnodeUrl, otherFullnodeUrls = [], fetch } = access;
  const client = await chain.client();
  let chainIdentifier: string;
  try {
    ({ chainIdentifier } = await client.core.getChainIdentifier());
  } catch (cause) {
    // A replica asks for its readiness again and again, and its URL has worked.
    if (isOpen !== undefined) throw cause;
    throw await explainSilence(fullnodeUrl, cause, fetch);
  }
  const urls = [fullnodeUrl, ...otherFullnodeUrls];
  const [latencyMs, faults] = await Promise.all([latencyOf(client), faultsOf(access, urls, chainIdentifier)]);
  const hosts = urls.map((url) => `${new URL(url.reveal()).host} (${protocolOf(url)})`).join(", ");
  const found = `${name}, chain ${chainIdentifier}, at ${hosts}, ${latencyMs} ms`;
  if (faults.length === urls.length) throw new Error(faults.join("; "));
  if (faults.length > 0) {
    const advice = "the other fullnodes serve meanwhile: check this one's URL, and that it runs";
    return { status: "warn", found: `${found}; ${faults.join("; ")}`, advice };
  }
  if (latencyMs <= SLOW_MS) return { status: "ok", found };
  return { status: "warn", found, advice: "use a fullnode that is nearer or less busy" };
}

/** Returns the protocol that a fullnode's URL selects. */
export function protocolOf(url: Secret): string {
  return isNativeGrpcUrl(url.reveal()) ? "native gRPC" : "gRPC-web";
}

/** Returns the error of a fullnode that does not answer. Asks it in the other protocol. */
export async function explainSilence(url: Secret, cause: unknown, send?: typeof fetch): Promise<Error> {
  const { host, protocol } = new URL(url.reveal());
  const other = OTHER_PROTOCOL[protocol] ?? protocol;
  const baseUrl = url.reveal().replace(/^[a-z]+:/i, other);
  const client = new SuiGrpcClient({ network: "any", baseUrl, format: "binary", fetch: fetchInTime(send) });
  try {
    await client.core.getChainIdentifier();
  } catch {
    return new Error(`${host} does not answer`, { cause });
  }
  const spoken = protocolOf(new Secret(baseUrl));
  return new Error(`${host} does not speak ${protocolOf(url)}, but ${spoken}: begin its URL with ${other}//`);
}

/** The schemes of gRPC-web and of native gRPC for the same port. */
const OTHER_PROTOCOL: Readonly<Record<string, string>> = {
  "https:": "grpcs:",
  "http:": "grpc:",
  "grpcs:": "https:",
  "grpc:": "http:",
};

/** Resolves with the time of a call in milliseconds. The client caches the chain identifier, but not this answer. */
async function latencyOf(client: SuiGrpcClient): Promise<number> {
  const beganMs = performance.now();
  await client.core.getReferenceGasPrice();
  return Math.round(performance.now() - beganMs);
}

/**
 * Asks each fullnode for its chain, with a client that has not cached it. Returns a description of each that does not
 * answer or serves another chain.
 */
async function faultsOf(
  { name, fetch }: NetworkAccess,
  urls: readonly Secret[],
  chain: string,
): Promise<string[]> {
  const faults = await Promise.all(
    urls.map(async (url) => {
      const { host } = new URL(url.reveal());
      const options = { network: name, baseUrl: url.reveal(), format: "binary" } as const;
      try {
        const client = new SuiGrpcClient({ ...options, fetch: fetchInTime(fetch) });
        const { chainIdentifier } = await client.core.getChainIdentifier();
        return chainIdentifier === chain ? [] : [`${host} serves another chain, ${chainIdentifier}`];
      } catch {
        return [`${host} does not answer`];
      }
    }),
  );
  return faults.flat();
}

async function lookAtChain(subject: NetworkSubject): Promise<Finding> {
  const { chain } = subject;
  const client = await answering(chain);
  const { name, isPosing = false } = await chain.access();
  const { chainIdentifier } = await client.core.getChainIdentifier();
  if (!isPosing && !canBeChainOf(name, chainIdentifier))
    throw new Error(`the fullnode does not serve ${name}: its chain is ${chainIdentifier}`);
  const known = await readKnownChain(await reachable(subject), name);
  if (known === undefined)
    return { status: "info", found: "the first start will bind the database to a chain" };
  if (known === chainIdentifier) return { status: "ok", found: "the database's own" };
  return {
    status: "fail",
    found: `the database belongs to ${name} with chain ${known}, the fullnode serves ${chainIdentifier}`,
    advice:
      "set the fullnode's URL and DATABASE_URL to the same deployment; keep or delete a localnet's folder and its database together",
  };
}

async function readKnownChain(db: Queryable, network: string): Promise<string | undefined> {
  try {
    const [row] = await readRows(db, sql`SELECT chain_id AS id FROM known_network WHERE name = ${network}`, {
      id: text,
    });
    return row?.id;
  } catch (error) {
    if (isSchemaMissing(error)) throw new NotChecked("the database is not migrated");
    throw error;
  }
}

async function lookAtIka(chain: HealthChain): Promise<Finding> {
  const client = await answering(chain);
  const { ikaConfig } = await chain.access();
  const { ikaDwallet2pcMpcPackage: packageId } = ikaConfig.packages;
  const ids = Object.values(ikaConfig.objects).map(({ objectID }) => objectID);
  const missing = await missingObjects(client, ids);
  const found = `package ${packageId} and its objects`;
  if (missing.length > 0) throw new Error(`no object exists at ${missing.join(", ")}`);
  await findFunction(client, packageId, "coordinator", "register_encryption_key");
  return { status: "ok", found };
}

/** Throws if the package does not exist or lacks the function. */
export async function findFunction(
  client: SuiGrpcClient,
  packageId: string,
  moduleName: string,
  name: string,
): Promise<void> {
  try {
    await client.core.getMoveFunction({ packageId, moduleName, name });
  } catch (cause) {
    throw new Error(`there is no ${moduleName}::${name} in a package ${packageId}`, { cause });
  }
}
