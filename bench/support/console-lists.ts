import { listApiKeys } from "../../src/service/access/keys/api-keys.ts";
import { listProjects } from "../../src/service/access/projects.ts";
import { listAuditEvents, listAuditSeals } from "../../src/service/audit/list-audit-events.ts";
import { listDepositAddresses } from "../../src/service/billing/deposits/list-deposit-addresses.ts";
import { listDeposits } from "../../src/service/billing/deposits/list-deposits.ts";
import { listLedgerEntries } from "../../src/service/billing/ledger-entries.ts";
import { listDWallets } from "../../src/service/onboarding/dwallet-row.ts";
import { listChainTransactions } from "../../src/service/operator/calls/chain-calls.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import type { Page, PageRequest } from "../../src/service/platform/store/read-page.ts";
import { listSigns, SIGN_STATUSES } from "../../src/service/signing/shown-sign-request.ts";
import { listSessions } from "../../src/service/users/session-row.ts";
import { listUsers } from "../../src/service/users/users.ts";
import { listDeliveries } from "../../src/service/webhooks/deliveries.ts";
import type { FilledLists } from "./fill-project-lists.ts";

/** Reads a page of a list. */
export type ReadList = (request: PageRequest) => Promise<Page<unknown>>;

/** The database of one size, and whom its lists are about. */
export interface ListedProject extends FilledLists {
  readonly database: Database;
  readonly projectId: string;
}

const NETWORKS = ["localnet"];

/** Returns every list of the console's pages by its name, of the whole network or of one project. */
export function consoleLists(of: ListedProject): Readonly<Record<string, ReadList>> {
  return { ...signLists(of), ...projectLists(of), ...operatorLists(of) };
}

function signLists({ database, projectId, userReference }: ListedProject): Record<string, ReadList> {
  const caller = { projectId };
  const all = { dwalletId: undefined, status: undefined };
  const byState = SIGN_STATUSES.map((status): [string, ReadList] => [
    `sign requests, ${status}`,
    (page) => listSigns(database, caller, { ...page, ...all, status }),
  ]);
  return {
    "sign requests": (page) => listSigns(database, caller, { ...page, ...all }),
    ...Object.fromEntries(byState),
    "sign requests, held": (page) => listSigns(database, caller, { ...page, ...all, held: true }),
    "sign requests of a user": (page) => listSigns(database, caller, { ...page, ...all, userReference }),
  };
}

function projectLists(of: ListedProject): Record<string, ReadList> {
  const { database, projectId, endpointId, dwalletName, userReference } = of;
  const caller = { projectId };
  const deliveries = { endpointId, state: undefined };
  return {
    ledger: (page) => listLedgerEntries(database, projectId, page),
    users: (page) => listUsers(database, projectId, page),
    "users, frozen": (page) => listUsers(database, projectId, { ...page, frozen: true }),
    "users, not frozen": (page) => listUsers(database, projectId, { ...page, frozen: false }),
    "users by the start of the reference": (page) =>
      listUsers(database, projectId, { ...page, referencePrefix: userReference.slice(0, -3) }),
    sessions: (page) => listSessions(database, caller, page),
    "sessions of a user": (page) => listSessions(database, caller, { ...page, userReference }),
    "API keys": (page) => listApiKeys(database, NETWORKS, { ...page, projectId }),
    dWallets: (page) => listDWallets(database, caller, page),
    "dWallets of a user": (page) => listDWallets(database, caller, { ...page, userReference }),
    "search: a dWallet by its name": (page) => listDWallets(database, caller, { ...page, name: dwalletName }),
    deposits: (page) => listDeposits(database, projectId, { ...page, state: undefined }),
    "deposits, waiting": (page) => listDeposits(database, projectId, { ...page, state: "waiting" }),
    "deposit addresses": (page) => listDepositAddresses(database, projectId, page),
    "webhook deliveries": (page) => listDeliveries(database, caller, { ...page, ...deliveries }),
    "webhook deliveries, failed": (page) =>
      listDeliveries(database, caller, { ...page, ...deliveries, state: "failed" }),
    "webhook deliveries, pending": (page) =>
      listDeliveries(database, caller, { ...page, ...deliveries, state: "pending" }),
    "webhook deliveries, delivered": (page) =>
      listDeliveries(database, caller, { ...page, ...deliveries, state: "delivered" }),
  };
}

function operatorLists({ database, projectId }: ListedProject): Record<string, ReadList> {
  const ever = { startTime: undefined, endTime: undefined };
  const events = { ...ever, projectId: undefined, actor: undefined, action: undefined };
  const sent = { lane: undefined, state: undefined, kind: undefined };
  return {
    projects: (page) => listProjects(database, NETWORKS, page),
    "search: projects by name": (page) => listProjects(database, NETWORKS, { ...page, pageSize: 200 }),
    "audit events": (page) => listAuditEvents(database, NETWORKS, { ...page, ...events }),
    "audit events of a project": (page) =>
      listAuditEvents(database, NETWORKS, { ...page, ...events, projectId }),
    "audit events of an actor": (page) =>
      listAuditEvents(database, NETWORKS, { ...page, ...events, actor: `key:${projectId}` }),
    "audit events of an action": (page) =>
      listAuditEvents(database, NETWORKS, { ...page, ...events, action: "sign.submit" }),
    "audit events of a rare action": (page) =>
      listAuditEvents(database, NETWORKS, { ...page, ...events, action: "api_key.revoke" }),
    seals: (page) => listAuditSeals(database, page),
    transactions: (page) => listChainTransactions(database, "localnet", { ...page, ...sent }),
    "transactions, aborted": (page) =>
      listChainTransactions(database, "localnet", { ...page, ...sent, state: "aborted" }),
  };
}
