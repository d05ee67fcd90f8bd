import { hkdfSync } from "node:crypto";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import sql from "sql-template-tag";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import { idleRestMs, type Signals, waitForSignal } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Loop } from "../../platform/lifecycle/start-loops.ts";
import { text } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { Secret } from "../../platform/telemetry/secret.ts";

/**
 * Asks the processes with the master seed for an address, and returns it when one of them has stored it. The request
 * stays in the database until then. Throws DEPOSIT_ADDRESS_PENDING after ten seconds.
 *
 * @param store stores the request, unless the address or the request exists
 */
export async function requestAddress(
  { database, network, requests: { signals, clock, waitMs = WAIT_MS } }: RequestDeps,
  owner: DepositOwner,
  store: (db: Queryable) => Promise<void>,
): Promise<void> {
  await database.transaction(store);
  signals.notify(topics.depositRequested(network));
  const endMs = clock.now() + waitMs;
  for (;;) {
    const leftMs = endMs - clock.now();
    const timeoutMs = Math.max(1, Math.min(leftMs, POLL_MS));
    const isThere = () => hasAddress(database, network, owner);
    if (await waitForSignal(signals, topics.depositMade(network), { clock, timeoutMs }, isThere)) return;
    if (leftMs <= 0) {
      throw new ServiceError(
        "DEPOSIT_ADDRESS_PENDING",
        "no process that makes deposit addresses has answered yet",
      );
    }
  }
}

/** What a process without the master seed needs to ask for addresses. */
export interface AddressRequests {
  readonly signals: Signals;
  readonly clock: Clock;
  /** The longest wait for an address. Default 10 s. */
  readonly waitMs?: number;
}

interface RequestDeps {
  readonly database: Database;
  readonly network: string;
  readonly requests: AddressRequests;
}

const WAIT_MS = 10_000;
const POLL_MS = 500;

async function hasAddress(
  db: Queryable,
  network: string,
  { projectId, reference }: DepositOwner,
): Promise<true | undefined> {
  const found = await execute(
    db,
    sql`SELECT 1 AS found FROM deposit_address
        WHERE project_id = ${projectId} AND network = ${network} AND reference = ${reference}`,
  );
  return found > 0 || undefined;
}

/**
 * Creates a loop that makes the requested addresses of a network. Any number of processes with the master seed may run
 * it.
 *
 * @param make stores the address of an owner, unless it exists
 */
export function createAddressMaker(
  { database, network }: Pick<RequestDeps, "database" | "network">,
  { signals, clock, log }: { readonly signals: Signals; readonly clock: Clock; readonly log: Log },
  make: (db: Queryable, owner: DepositOwner) => Promise<void>,
): Loop {
  return createBackgroundLoop({
    name: "deposit addresses",
    intervalMs: IDLE_MS,
    clock,
    log,
    wakeOn: (wake) => signals.subscribe(topics.depositRequested(network), wake),
    async pass() {
      const owners = await readRows(
        database,
        sql`SELECT project_id AS "projectId", reference FROM deposit_address_request
            WHERE network = ${network} ORDER BY created_at LIMIT ${AT_ONCE_COUNT}`,
        { projectId: text, reference: text },
      );
      for (const owner of owners) await database.transaction((db) => make(db, owner));
      if (owners.length === 0) return { restMs: idleRestMs(signals, IDLE_MS) };
      signals.notify(topics.depositMade(network));
      return owners.length === AT_ONCE_COUNT;
    },
  });
}

const AT_ONCE_COUNT = 100;
/** A signal wakes the loop at once. This bounds the wait if there is no Redis. */
const IDLE_MS = 1_000;

/**
 * Derives the Ed25519 key that owns a project's deposit address on a network. Its secret (RFC 8032, 32 bytes) is
 * HKDF-SHA256 (RFC 5869) with the master seed (32 bytes) as input key, {@link SALT} as salt and
 * `<network>:<project id>` as info, with the id as a UUID in lower case. With a reference, the salt is
 * {@link REFERENCE_SALT} and the info is `<network>:<project id>:<reference>`. The service derives the key on demand
 * and never stores it. docs/deposits.md has test vectors.
 */
export function deriveDepositKey(
  masterSeed: Secret<Uint8Array>,
  network: string,
  { projectId, reference }: DepositOwner,
): Ed25519Keypair {
  const seed = masterSeed.reveal();
  if (seed.length !== SEED_BYTES) throw new Error(`the master seed must have ${SEED_BYTES} bytes`);
  const own = `${network}:${projectId.toLowerCase()}`;
  const [salt, info] = reference === "" ? [SALT, own] : [REFERENCE_SALT, `${own}:${reference}`];
  return Ed25519Keypair.fromSecretKey(new Uint8Array(hkdfSync("sha256", seed, salt, info, SECRET_BYTES)));
}

/** Domain separation: distinguishes these keys from each other and from anything else derived from the same seed. */
const SALT = "threshold-signing-service/deposit/v1";
const REFERENCE_SALT = "threshold-signing-service/deposit-reference/v1";
const SEED_BYTES = 32;
const SECRET_BYTES = 32;

/** The owner of a deposit address on a network. */
export interface DepositOwner {
  /** A UUID. */
  readonly projectId: string;
  /** The project's own id for a user, in printable ASCII; empty for the address of the project itself. */
  readonly reference: string;
}

const REMEMBERED_COUNT = 10_000;
/** Caches addresses by master seed, network, project and reference, because each derivation takes milliseconds. */
const remembered = new WeakMap<Secret<Uint8Array>, RecentMap<string, string>>();

/** Returns the address of {@link deriveDepositKey}. Caches the most recent addresses. */
export function deriveDepositAddress(
  masterSeed: Secret<Uint8Array>,
  network: string,
  owner: DepositOwner,
): string {
  const known = remembered.get(masterSeed) ?? new RecentMap<string, string>(REMEMBERED_COUNT);
  remembered.set(masterSeed, known);
  const name = `${network}:${owner.projectId}:${owner.reference}`;
  const address = known.get(name) ?? deriveDepositKey(masterSeed, network, owner).toSuiAddress();
  known.set(name, address);
  return address;
}
