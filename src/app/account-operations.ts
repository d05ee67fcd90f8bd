import type { ApiKeyLookup } from "../access/api-key-lookup.ts";
import { createApiKeyOnce } from "../access/create-api-key-once.ts";
import { createProjectOnce } from "../access/create-project-once.ts";
import { listApiKeys } from "../access/list-api-keys.ts";
import { listProjects } from "../access/list-projects.ts";
import { revokeApiKey } from "../access/revoke-api-key.ts";
import { rotateApiKey } from "../access/rotate-api-key.ts";
import { setAllowedAddresses } from "../access/set-allowed-addresses.ts";
import type { AccountOperations } from "../admin/account-calls.ts";
import { getAuditProof } from "../admin/get-audit-proof.ts";
import { listAuditEvents } from "../admin/list-audit-events.ts";
import { listAuditSeals } from "../admin/list-audit-seals.ts";
import { adjustCredit } from "../billing/adjust-credit.ts";
import type { Database } from "../store/database.ts";

/** The operator's operations on projects, keys and credit, over one database. A changed key leaves the lookup at once. */
export function createAccountOperations(
  database: Database,
  lookup: Pick<ApiKeyLookup, "forget">,
): AccountOperations {
  return {
    createProject: (...call) => createProjectOnce(database, ...call),
    listProjects: (...call) => listProjects(database, ...call),
    createApiKey: (...call) => createApiKeyOnce(database, ...call),
    listApiKeys: (...call) => listApiKeys(database, ...call),
    rotateApiKey: (...call) => rotateApiKey({ database, lookup }, ...call),
    setAllowedAddresses: (...call) => setAllowedAddresses({ sql: database, lookup }, ...call),
    revokeApiKey: (...call) => revokeApiKey({ sql: database, lookup }, ...call),
    adjustCredit: (...call) => adjustCredit(database, ...call),
    listAuditEvents: (...call) => listAuditEvents(database, ...call),
    listAuditSeals: (...call) => listAuditSeals(database, ...call),
    getAuditProof: (...call) => getAuditProof(database, ...call),
  };
}
