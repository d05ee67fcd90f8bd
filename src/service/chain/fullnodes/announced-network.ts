import sql from "sql-template-tag";
import { type Clock, pause } from "../../platform/lifecycle/clock.ts";
import { boolean, nullable, text } from "../../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { WalletAddresses } from "./network.ts";

/** What a process with the keys of a network announces to the processes without them, in the database. */
export interface AnnouncedNetwork extends WalletAddresses {
  /** True if there is a seed of deposit addresses. */
  readonly takesDeposits: boolean;
}

/** Announces the network. A later announcement replaces it. The database must already know the network's chain. */
export async function announceNetwork(
  { prisma }: Database,
  network: string,
  { senderAddress, gasOwnerAddress, takesDeposits }: AnnouncedNetwork,
): Promise<void> {
  const { count } = await prisma.knownNetwork.updateMany({
    where: { name: network },
    data: { senderAddress, gasOwnerAddress, takesDeposits },
  });
  if (count !== 1) throw new Error(`the database does not know the chain of ${network}`);
}

/** Returns the announcement. Throws if no process with the network's keys has started on this database. */
export async function readAnnouncedNetwork(db: Queryable, network: string): Promise<AnnouncedNetwork> {
  const [row] = await readRows(
    db,
    sql`SELECT sender_address AS "senderAddress", gas_owner_address AS "gasOwnerAddress",
          takes_deposits AS "takesDeposits" FROM known_network WHERE name = ${network}`,
    { senderAddress: nullable(text), gasOwnerAddress: nullable(text), takesDeposits: nullable(boolean) },
  );
  const { senderAddress, gasOwnerAddress, takesDeposits } = row ?? {};
  if (senderAddress && gasOwnerAddress && typeof takesDeposits === "boolean")
    return { senderAddress, gasOwnerAddress, takesDeposits };
  throw new NotAnnounced(network);
}

/** Thrown while no process with a network's keys has announced them. */
export class NotAnnounced extends Error {
  override readonly name = "NotAnnounced";
  constructor(network: string) {
    super(
      `no process with the keys of ${network} has started on this database yet, so the hot wallet's address is unknown: ` +
        "start one with PROCESS_TYPE worker or all",
    );
  }
}

/** Waits up to a minute for the announcement, because replicas may start together. Throws the error of reading it. */
export async function awaitAnnouncedNetwork(
  db: Queryable,
  network: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<AnnouncedNetwork> {
  for (let count = 0; ; count++) {
    try {
      return await readAnnouncedNetwork(db, network);
    } catch (error) {
      if (!(error instanceof NotAnnounced) || count === READS_MAX_COUNT) throw error;
      if (count === 0) log.info({ network }, "waiting for a process with the hot wallet");
    }
    await pause(clock, PAUSE_MS);
  }
}

const PAUSE_MS = 500;
const READS_MAX_COUNT = 120;
