import type { SuiGrpcClient } from "@mysten/sui/grpc";
import sql from "sql-template-tag";
import { text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { isSchemaMissing } from "../../store/sql-errors.ts";
import { readRows } from "../../store/statements.ts";
import { reachable } from "./database-checks.ts";
import type { DoctorChain } from "./doctor-chain.ts";
import { type DoctorCheck, type Finding, NotChecked, needed } from "./doctor-check.ts";
import type { DoctorDatabase } from "./doctor-database.ts";

/** A fullnode that takes longer for the smallest call holds up every signature. */
const SLOW_MS = 1_000;

/** Checks of the fullnode, and of whether it serves the chain that is meant. */
export function chainChecks(chain: DoctorChain, database: () => Promise<DoctorDatabase>): DoctorCheck[] {
  return [
    {
      name: "fullnode",
      advice:
        "check that the fullnode runs and that SUI_GRPC_URL_<NETWORK> (LOCALNET_URL) names its gRPC port",
      look: () => lookAtFullnode(chain),
    },
    {
      name: "chain",
      advice: "check that the user of DATABASE_URL may read the table known_network",
      look: async () => lookAtChain(chain, await reachable(database)),
    },
    {
      name: "ika",
      advice:
        "point the fullnode's URL at the network of NETWORKS; Ika's ids are those of this version's SDK",
      look: () => lookAtIka(chain),
    },
  ];
}

/** A client of a fullnode that answers; throws {@link NotChecked} where none does. */
export async function answering(chain: DoctorChain): Promise<SuiGrpcClient> {
  const client = await needed(chain.client(), "no network is available");
  await needed(client.core.getChainIdentifier(), "the fullnode does not answer");
  return client;
}

/** Those of these objects that the fullnode does not have. */
export async function missingObjects(client: SuiGrpcClient, objectIds: readonly string[]): Promise<string[]> {
  const { objects } = await client.core.getObjects({ objectIds: [...objectIds] });
  return objectIds.filter((_, index) => objects[index] === undefined || objects[index] instanceof Error);
}

async function lookAtFullnode(chain: DoctorChain): Promise<Finding> {
  const { name, fullnodeUrl } = await chain.access();
  const client = await chain.client();
  const beganMs = performance.now();
  const { chainIdentifier } = await client.core.getChainIdentifier();
  const latencyMs = Math.round(performance.now() - beganMs);
  const found = `${name}, chain ${chainIdentifier}, at ${new URL(fullnodeUrl.reveal()).host}, ${latencyMs} ms`;
  if (latencyMs <= SLOW_MS) return { status: "ok", found };
  return { status: "warn", found, advice: "use a fullnode that is nearer or less busy" };
}

async function lookAtChain(chain: DoctorChain, db: Queryable): Promise<Finding> {
  const client = await answering(chain);
  const { name } = await chain.access();
  const { chainIdentifier } = await client.core.getChainIdentifier();
  const known = await readKnownChain(db, name);
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

async function lookAtIka(chain: DoctorChain): Promise<Finding> {
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

/** Throws where the package, or the function in it, does not exist. */
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
