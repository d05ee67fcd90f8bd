import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { AlgorithmTriple } from "../../src/protocol/algorithms.ts";
import { requestedSessions } from "../../src/service/chain/events.ts";
import { verifyLedger } from "../../src/service/ledger/verify-ledger.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { ownerOf } from "../support/database/exits.ts";

/** The chain to read, and the sender of its transactions. */
interface FullnodeOfWallet {
  readonly url: string;
  readonly hotWalletAddress: string;
  /** Its name in the database; default localnet. */
  readonly network?: string;
  /** Default: fetch over sockets. */
  readonly fetch?: typeof fetch;
}

/** A transaction of the hot wallet on the chain. */
interface Executed {
  readonly digest: string;
  readonly succeeded: boolean;
  readonly events: readonly { readonly type: string; readonly bcs: Uint8Array }[];
}

/**
 * Checks everything that must hold when no work is open, and returns the violations as sentences. It reads the chains
 * from their checkpoints, verifies signatures with outside libraries, and recomputes the money.
 */
export async function checkRest(
  database: Database,
  localnet: FullnodeOfWallet | readonly FullnodeOfWallet[],
  triple: AlgorithmTriple,
): Promise<string[]> {
  const faults: string[] = [];
  for (const { kind, subject, expected, actual } of await verifyLedger(database))
    faults.push(`ledger: ${kind} of ${subject} is ${actual}, not ${expected}`);
  faults.push(...(await checkRequests(database, triple)));
  faults.push(...(await checkBudgets(database)));
  faults.push(...(await checkEvents(database)));
  const chains = [localnet].flat() as FullnodeOfWallet[];
  const executed = (await Promise.all(chains.map(hotWalletTransactions))).flat();
  faults.push(...(await checkTransactions(database, executed)));
  faults.push(...(await checkSessions(database, executed)));
  for (const chain of chains) faults.push(...(await checkExits(database, chain)));
  const open = await database.query<{ kind: string; state: string }>(
    // The pool may request presigns until the end.
    `SELECT kind, state FROM chain_operation
     WHERE state NOT IN ('landed', 'failed') AND NOT (kind = 'presign' AND state = 'queued')`,
  );
  for (const { kind, state } of open) faults.push(`an operation ${kind} is still ${state}`);
  const lanes = await database.query<{ id: string }>("SELECT id FROM lane WHERE foreign_digest IS NOT NULL");
  for (const { id } of lanes) faults.push(`lane ${id} takes a transaction of its own for another's`);
  return faults;
}

/** Each ended request has one event of its end, and no other request has one. */
async function checkEvents(database: Database): Promise<string[]> {
  const rows = await database.query<{ id: string; wanted: string; written: string }>(
    `SELECT r.id, 'sign.' || r.status AS wanted, coalesce(string_agg(e.kind, ', '), 'none') AS written
     FROM sign_request r LEFT JOIN event e ON e.subject = r.id::text AND e.project_id = r.project_id
     GROUP BY r.id, r.status HAVING coalesce(string_agg(e.kind, ', '), 'none') <> 'sign.' || r.status`,
  );
  return rows.map(({ id, wanted, written }) => `request ${id} has the events ${written}, not ${wanted}`);
}

interface RequestRow {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly message: Uint8Array;
  readonly signature: Uint8Array | null;
  readonly publicKey: Uint8Array;
  readonly price: bigint;
  readonly booked: bigint;
}

/** A request is charged if and only if a valid signature was delivered. */
async function checkRequests(database: Database, triple: AlgorithmTriple): Promise<string[]> {
  const rows = await database.query<RequestRow>(
    `SELECT r.id, r.status, r.failure_reason AS reason, r.message, r.signature, d.public_key AS "publicKey",
            r.price_micro_usd AS price,
            (SELECT coalesce(sum(amount_micro_usd), 0)::bigint FROM ledger_entry
             WHERE key LIKE '%:' || r.id::text) AS booked
     FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id`,
  );
  return rows.flatMap(({ id, status, reason, message, signature, publicKey, price, booked }) => {
    if (status !== "completed" && status !== "failed") return [`request ${id} is still ${status}`];
    const isValid = signature !== null && isValidSignature({ ...triple, publicKey, message, signature });
    if (status === "completed" && !isValid) return [`request ${id} has a signature that does not verify`];
    const due = isValid ? -price : 0n;
    return booked === due ? [] : [`request ${id} (${status}, ${reason}) is booked at ${booked}, not ${due}`];
  });
}

interface BudgetRow {
  readonly id: string;
  readonly maxCount: number | null;
  readonly maxMicroUsd: bigint | null;
  readonly newestSlot: bigint;
  readonly counts: readonly number[];
  readonly amounts: readonly (bigint | string)[];
}

/** What was taken from a budget and not given back. */
interface TakenRow {
  readonly id: string;
  readonly slot: bigint;
  readonly price: bigint;
}

/** No window exceeds its budget, and the counters say what the requests and dWallets say. */
async function checkBudgets(database: Database): Promise<string[]> {
  const budgets = await database.query<BudgetRow>(
    `SELECT id, max_count AS "maxCount", max_micro_usd AS "maxMicroUsd", newest_slot AS "newestSlot",
            slot_counts AS counts, slot_micro_usd AS amounts
     FROM allowance WHERE window_seconds IS NOT NULL`,
  );
  const taken = await database.query<TakenRow>(
    `SELECT allowance_id AS id, allowance_slot AS slot, price_micro_usd AS price FROM sign_request
     WHERE allowance_id IS NOT NULL AND NOT refunded AND (status <> 'failed' OR user_sign_message IS NOT NULL)
     UNION ALL
     SELECT allowance_id, allowance_slot, price_micro_usd FROM dwallet WHERE allowance_id IS NOT NULL AND NOT refunded`,
  );
  return budgets.flatMap(({ id, maxCount, maxMicroUsd, newestSlot, counts, amounts }) => {
    const own = taken.filter((each) => each.id === id);
    const inSlots = (first: bigint, last: bigint) => {
      const rows = own.filter(({ slot }) => slot >= first && slot <= last);
      return { count: rows.length, sum: rows.reduce((sum, { price }) => sum + price, 0n) };
    };
    const exceeded = own.flatMap(({ slot }) => {
      const { count, sum } = inSlots(slot - 24n, slot);
      const fits = count <= (maxCount ?? count) && sum <= (maxMicroUsd ?? sum);
      return fits ? [] : [`the window until slot ${slot} of budget ${id} has ${count} requests for ${sum}`];
    });
    const wrong = counts.flatMap((counted, index) => {
      const slot = newestSlot - BigInt(index);
      const { count, sum } = inSlots(slot, slot);
      return counted === count && BigInt(amounts[index]!) === sum
        ? []
        : [`slot ${slot} of budget ${id} has ${counted} for ${amounts[index]}, not ${count} for ${sum}`];
    });
    return [...exceeded, ...wrong];
  });
}

/** Every transaction of the hot wallet was stored before it was sent, and has the outcome that the database stores. */
async function checkTransactions(database: Database, executed: readonly Executed[]): Promise<string[]> {
  const stored = await database.query<{ digest: string; state: string }>(
    "SELECT digest, state FROM chain_transaction",
  );
  const states = new Map(stored.map(({ digest, state }) => [digest, state]));
  const faults = executed.flatMap(({ digest, succeeded }) => {
    const state = states.get(digest);
    const expected = succeeded ? "landed" : "aborted";
    states.delete(digest);
    return state === expected ? [] : [`transaction ${digest} ${expected}, and the database says ${state}`];
  });
  for (const [digest, state] of states)
    if (state !== "dropped") faults.push(`transaction ${digest} is ${state}, and the chain does not have it`);
  return faults;
}

/** Each presign serves one signature, and each requested signature belongs to one charged request. */
async function checkSessions(database: Database, executed: readonly Executed[]): Promise<string[]> {
  const events = executed.flatMap((transaction) => transaction.events);
  const signs = requestedSessions(events, "SignRequestEvent").map(({ data }) => data);
  const presigns = requestedSessions(events, "PresignRequestEvent").map(({ data }) => data.presign_id);
  const faults = repeated(signs.map(({ presign_id }) => presign_id)).map(
    (id) => `presign ${id} was used twice`,
  );
  const requests = await database.query<{ signSessionId: string; status: string }>(
    `SELECT sign_session_id AS "signSessionId", status FROM sign_request WHERE sign_session_id IS NOT NULL`,
  );
  const known = new Set(requests.map(({ signSessionId }) => signSessionId));
  for (const { sign_id } of signs)
    if (!known.delete(sign_id)) faults.push(`the network was asked for signature ${sign_id} by nobody`);
  for (const id of known) faults.push(`the network was never asked for signature ${id}`);
  const rows = await database.query<{ presignId: string }>(
    `SELECT presign_id AS "presignId" FROM presign WHERE presign_id IS NOT NULL`,
  );
  const pool = new Set(rows.map(({ presignId }) => presignId));
  for (const id of presigns) if (!pool.has(id)) faults.push(`presign ${id} was paid for and is in no row`);
  return faults;
}

interface ExitRow {
  readonly dwalletId: string;
  readonly capId: string;
  readonly state: string;
  readonly recipient: string | null;
}

/** A dWallet has left if and only if its owner's address has the capability, and no other address ever has it. */
async function checkExits(
  database: Database,
  { url, fetch, network = "localnet" }: FullnodeOfWallet,
): Promise<string[]> {
  const client = new SuiGrpcClient({
    network: "localnet",
    baseUrl: url,
    format: "binary",
    ...(fetch && { fetch }),
  });
  const rows = await database.query<ExitRow>(
    `SELECT d.object_id AS "dwalletId", d.cap_id AS "capId", d.state,
            (SELECT c.recipient FROM treasury_consent c WHERE c.dwallet_id = d.id AND c.state = 'landed') AS recipient
     FROM dwallet d WHERE d.network = $1 AND d.state IN ('Active', 'Leaving', 'Left')`,
    [network],
  );
  const faults: string[] = [];
  for (const { dwalletId, capId, state, recipient } of rows) {
    const owner = await ownerOf({ client }, capId);
    if ((state === "Left") !== (owner !== undefined) || (owner ?? null) !== recipient)
      faults.push(
        `dWallet ${dwalletId} is ${state} for ${recipient}, and its capability belongs to ${owner}`,
      );
  }
  return faults;
}

function repeated(ids: readonly string[]): string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

async function hotWalletTransactions(localnet: FullnodeOfWallet): Promise<Executed[]> {
  const { ledgerService } = new SuiGrpcClient({
    network: "localnet",
    baseUrl: localnet.url,
    format: "binary",
    ...(localnet.fetch && { fetch: localnet.fetch }),
  });
  const executed: Executed[] = [];
  const { response: info } = await ledgerService.getServiceInfo({});
  for (let sequenceNumber = 1n; sequenceNumber <= (info.checkpointHeight ?? 0n); sequenceNumber++) {
    const { response } = await ledgerService.getCheckpoint({
      checkpointId: { oneofKind: "sequenceNumber", sequenceNumber },
      readMask: { paths: ["transactions"] },
    });
    for (const { digest, transaction, effects, events } of response.checkpoint?.transactions ?? []) {
      if (transaction?.sender !== localnet.hotWalletAddress) continue;
      executed.push({
        digest: digest ?? "",
        succeeded: effects?.status?.success === true,
        events: (events?.events ?? []).map((event) => ({
          type: event.eventType ?? "",
          bcs: event.contents?.value ?? new Uint8Array(),
        })),
      });
    }
  }
  return executed;
}
