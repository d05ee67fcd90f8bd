import type { Client } from "@connectrpc/connect";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import {
  type AdminKeyLookup,
  type ApiKeyLookup,
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../src/service/access/keys/stored-keys.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { silentLog } from "../silent-log.ts";
import { wholeAdminService } from "./admin-service.ts";
import { clientOf } from "./service-client.ts";

/** An operator's calls to one replica on one database, without a chain. */
export interface AdminReplica {
  readonly admin: Client<typeof Admin>;
  readonly lookup: ApiKeyLookup;
  readonly adminLookup: AdminKeyLookup;
}

/** The pool of a replica. */
export interface AdminPresigns {
  readonly networkEncryptionKeyId?: string;
  /** Default 1. */
  readonly lowWaterCount?: number;
  /** Default 2. */
  readonly highWaterCount?: number;
}

/** The actor of {@link adminReplica}'s calls in the audit trail. */
export const ADMIN_ORIGIN = { actor: "admin", requestId: "r-1", address: "192.0.2.1" } as const;

/** Creates one. */
export function adminReplica(
  database: Database,
  now?: () => number,
  { networkEncryptionKeyId = "", lowWaterCount = 1, highWaterCount = 2 }: AdminPresigns = {},
): AdminReplica {
  const lookup = createApiKeyLookup({ database, log: silentLog, now });
  const adminLookup = createAdminKeyLookup({ database, log: silentLog, now });
  const service = wholeAdminService({
    accounts: { database, lookup },
    adminKeys: { database, lookup: adminLookup },
    chain: {} as never,
    presigns: {
      network: "localnet",
      configured: [],
      newestNetworkEncryptionKeyId: async () => networkEncryptionKeyId,
      signals: createLocalSignals(),
      lowWaterCount,
      highWaterCount,
    },
  });
  const admin = clientOf(Admin, service, () => ({
    kind: "admin",
    network: "localnet",
    networks: ["localnet"],
    origin: ADMIN_ORIGIN,
  }));
  return { admin, lookup, adminLookup };
}

/** Returns the events of a subject, the oldest first. */
export async function trailOf(database: Database, subject: string): Promise<string[]> {
  const events = await database.query<{ action: string; actor: string }>(
    "SELECT action, actor FROM audit_event WHERE subject = $1 ORDER BY id",
    [subject],
  );
  return events.map(({ action, actor }) => `${action} by ${actor}`);
}
