/** Exits of dWallets while requests are in progress, on a real PostgreSQL and a chain with a Treasury. */
import { randomBytes } from "node:crypto";
import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import {
  type SignedConsent,
  storeConsent,
  useConsent,
} from "../../src/service/onboarding/custody/consents.ts";
import { findDWallet } from "../../src/service/onboarding/dwallet-row.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { readSignRequest } from "../../src/service/signing/sign-request.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { createLife } from "../sim/mortal.ts";
import { onboardUser, type SimUser, time } from "../sim/onboard-user.ts";
import { ALONE_PACE, DKG_PRICE, PRICE, type Replica, startReplica } from "../sim/replica.ts";
import { createSimMpc } from "../sim/sim-mpc.ts";
import { ownerOf, sendConsent, signConsent } from "../support/database/exits.ts";
import { type ObservedDatabase, observeDatabase } from "../support/database/observe-database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import {
  layoutOfSignMessage,
  moneyOf,
  objectId,
  projectWith,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";

const CREDIT = 100n * PRICE + DKG_PRICE;
const test = await migratedDatabase();

describe.skipIf(test === undefined)("an exit", () => {
  let database: ObservedDatabase;
  let localnet: Localnet;
  let replica: Replica;

  const start = () =>
    startReplica({
      database,
      localnet,
      life: createLife(Number.POSITIVE_INFINITY, () => {}),
      pace: ALONE_PACE,
      times: { readMs: 10_000, buildMs: 10_000, executeMs: 10_000 },
      log: () => {},
    });
  beforeAll(async () => {
    database = observeDatabase(await openTestPool(test!.url));
    localnet = await startLocalnet({ mpc: createSimMpc() });
    replica = await start();
  }, 60_000);
  afterAll(async () => {
    await replica?.stop();
    await localnet?.close();
    await database?.close();
    await test?.drop();
  });

  const chain = () => ({ client: replica.network.client, treasury: localnet.treasury });
  const callerOf = (projectId: string) => ({ projectId, network: "localnet", origin: TEST_ORIGIN });
  async function newUser(): Promise<SimUser & { readonly projectId: string }> {
    const projectId = await projectWith(database, CREDIT);
    const user = await onboardUser(callerOf(projectId), (attempt) =>
      database.retrying((db) => attempt({ ...replica.deps, database: db })),
    );
    return { ...user, projectId };
  }
  type User = Awaited<ReturnType<typeof newUser>>;
  const reserveOne = async ({ projectId, dwalletId }: User): Promise<string> => {
    const input = { dwalletId, triple: TEST_TRIPLE, message: randomBytes(32), idempotency: undefined };
    const deps = { ...replica.deps, reservationTtlMs: 600_000 };
    return (await reserve(deps, callerOf(projectId), input, time(20_000))).id;
  };
  const submitOne = (user: User, signRequestId: string) =>
    submit(replica.deps, callerOf(user.projectId), { signRequestId, userSignMessage: layoutOfSignMessage() });
  const use = ({ projectId }: User, consent: SignedConsent) =>
    useConsent(replica.deps, callerOf(projectId), consent, time(20_000));
  const sign = (user: User, consent: Parameters<typeof signConsent>[2] | object = {}, by?: Ed25519Keypair) =>
    signConsent(chain(), by ?? user.keypair, { dwalletId: user.dwalletId, ...consent });
  const stateOf = async ({ projectId, dwalletId }: User, db: Database = database) =>
    (await findDWallet(db, { projectId }, dwalletId)).state;
  const capOwner = async ({ projectId, dwalletId }: User) =>
    ownerOf(chain(), (await findDWallet(database, { projectId }, dwalletId)).capId!);
  const requestsOf = ({ projectId }: User) =>
    database.query<{ status: string; reason: string | null; refunded: boolean }>(
      `SELECT status, failure_reason AS reason, refunded FROM sign_request WHERE project_id = $1 ORDER BY id`,
      [projectId],
    );
  const endOf = (user: User, id: string) =>
    database.until(async (db) => {
      const row = await readSignRequest(db, { id, caller: { projectId: user.projectId } });
      return (row?.status === "completed" || row?.status === "failed") && row;
    });

  it("completes submitted signatures, releases reservations, and then hands out the capability", async () => {
    const user = await newUser();
    const [open, submitted] = [await reserveOne(user), await reserveOne(user)];
    await submitOne(user, submitted);
    const { txDigest } = await use(user, await sign(user));

    expect(await capOwner(user)).toBe(user.keypair.toSuiAddress());
    expect(await stateOf(user)).toBe("Left");
    expect(txDigest).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    expect(await readSignRequest(database, { id: submitted })).toMatchObject({ status: "completed" });
    expect(await readSignRequest(database, { id: open })).toMatchObject({
      status: "failed",
      refunded: false,
    });
    expect(await moneyOf(database, user.projectId)).toEqual({
      balance: CREDIT - DKG_PRICE - PRICE,
      held: 0n,
      differences: [],
    });
    const [presign] = await database.query<{ state: string }>(
      "SELECT p.state FROM presign p JOIN sign_request r ON r.presign_id = p.id WHERE r.id = $1",
      [open],
    );
    expect(presign!.state).not.toBe("held");
    expect(await refusalOf(submitOne(user, open))).toBe("DWALLET_LEFT");
    expect(await refusalOf(reserveOne(user))).toBe("DWALLET_LEFT");
  });

  it("happens once, however many simultaneous calls request it", async () => {
    const user = await newUser();
    const consent = await sign(user);
    const other = await sign(user, { recipient: objectId() });
    const results = await Promise.allSettled([
      ...Array.from({ length: 8 }, () => use(user, consent)),
      ...Array.from({ length: 8 }, () => use(user, other)),
    ]);
    const digests = results.flatMap((r) => (r.status === "fulfilled" ? [r.value.txDigest] : []));
    const refusals = results.flatMap((r) =>
      r.status === "rejected" ? [(r.reason as ServiceError).reason] : [],
    );
    expect(new Set(digests).size).toBe(1);
    expect(digests).toHaveLength(8);
    expect(refusals.filter((reason) => !["WRONG_STATE", "DWALLET_LEFT"].includes(reason))).toEqual([]);
    const sent = await database.query(
      `SELECT 1 FROM chain_operation o JOIN treasury_consent c ON c.id = o.subject_id
       JOIN dwallet d ON d.id = c.dwallet_id WHERE d.object_id = $1`,
      [user.dwalletId],
    );
    expect(sent).toHaveLength(1);
    const winner = (await capOwner(user)) === consent.recipient ? consent : other;
    expect(await capOwner(user)).toBe(winner.recipient);
    expect((await use(user, winner)).txDigest).toBe(digests[0]);
    const others: readonly Partial<SignedConsent>[] = [
      { recipient: objectId() },
      { treasuryId: objectId() },
      { nonce: winner.nonce + 1n },
      { expiresEpoch: winner.expiresEpoch + 1n },
      { chain: randomBytes(32) },
      { publicKey: randomBytes(32) },
    ];
    for (const change of others)
      expect([change, await refusalOf(use(user, { ...winner, ...change }))]).toEqual([
        change,
        "DWALLET_LEFT",
      ]);
  });

  it("leaves no simultaneous reservation open, and charges none", async () => {
    const user = await newUser();
    const consent = await sign(user);
    const [left, ...reserved] = await Promise.allSettled([
      use(user, consent),
      ...Array.from({ length: 6 }, () => reserveOne(user)),
    ]);
    expect(left.status).toBe("fulfilled");
    const reasons = reserved.flatMap((r) =>
      r.status === "rejected" ? [(r.reason as ServiceError).reason] : [],
    );
    expect(reasons.filter((reason) => reason !== "DWALLET_LEFT")).toEqual([]);
    for (const { status, reason } of await requestsOf(user))
      expect([status, reason]).toEqual(["failed", "RESERVATION_EXPIRED"]);
    expect(await moneyOf(database, user.projectId)).toEqual({
      balance: CREDIT - DKG_PRICE,
      held: 0n,
      differences: [],
    });
  });

  it("is refused with the name of the wrong field, and changes nothing", async () => {
    const [user, other] = [await newUser(), await newUser()];
    const good = await sign(user);
    const cases: readonly (readonly [string, SignedConsent])[] = [
      ["chain", await sign(user, { chain: new Uint8Array(32) })],
      ["treasury_id", await sign(user, { treasuryId: objectId() })],
      ["recipient", await sign(user, { recipient: `0x${"0".repeat(64)}` })],
      ["public_key", await sign(user, {}, other.keypair)],
      ["nonce", await sign(user, { nonce: 1n })],
      ["expires_epoch", await sign(user, { expiresEpoch: 0n })],
      ["BAD_SIGNATURE", { ...good, recipient: objectId() }],
      ["BAD_SIGNATURE", { ...(await sign(other)), dwalletId: user.dwalletId, publicKey: good.publicKey }],
      [
        "BAD_SIGNATURE",
        { ...(await sign(user, { action: "refuse" })), action: "leave", recipient: objectId() },
      ],
    ];
    await localnet.controls.advanceEpoch();
    for (const [field, consent] of cases) {
      const error = await use(user, consent).catch((cause: unknown) => cause as ServiceError);
      if (!(error instanceof ServiceError)) throw new Error(`${field} was accepted`);
      expect([error.reason, error.violations[0]?.field]).toContain(field);
    }
    expect(await stateOf(user)).toBe("Active");
    expect(await capOwner(user)).toBeUndefined();
    expect(
      await database.query("SELECT 1 FROM treasury_consent WHERE project_id = $1", [user.projectId]),
    ).toEqual([]);
    expect(await refusalOf(use({ ...user, projectId: other.projectId }, good))).toBe("DWALLET_NOT_FOUND");
  });

  it("past the service refunds the signature that the chain then refuses, and the service stops signing", async () => {
    const user = await newUser();
    const request = await reserveOne(user);
    const sent = await sendConsent(chain(), localnet.url, await sign(user));
    expect(sent).toHaveProperty("digest");
    // If the service has already seen the exit, it charges nothing at all.
    const isCharged = (await refusalOf(submitOne(user, request))) === undefined;
    if (isCharged) expect(await endOf(user, request)).toMatchObject({ status: "failed", refunded: true });
    await database.until(async (db) => (await stateOf(user, db)) === "Left");
    expect(await refusalOf(reserveOne(user))).toBe("DWALLET_LEFT");
    expect(await refusalOf(use(user, await sign(user)))).toBe("DWALLET_LEFT");
    const { balance, differences } = await moneyOf(database, user.projectId);
    expect([balance, differences]).toEqual([CREDIT - DKG_PRICE, []]);
  });

  it("fails if the owner's refusal overtakes it, and the dWallet signs again", async () => {
    const user = await newUser();
    const consent = await sign(user);
    await replica.stop();
    const { id: dwalletRowId } = await findDWallet(database, { projectId: user.projectId }, user.dwalletId);
    const input = { network: "localnet", dwalletRowId, consent };
    expect(await storeConsent(database, callerOf(user.projectId), input)).toBeDefined();
    expect(await stateOf(user)).toBe("Leaving");
    expect(await refusalOf(reserveOne(user))).toBe("DWALLET_LEFT");
    expect(await sendConsent(chain(), localnet.url, await sign(user, { action: "refuse" }))).toHaveProperty(
      "digest",
    );
    replica = await start();
    await database.until(async (db) => (await stateOf(user, db)) === "Active");
    const request = await reserveOne(user);
    await submitOne(user, request);
    expect(await endOf(user, request)).toMatchObject({ status: "completed" });
    expect(await capOwner(user)).toBeUndefined();
    await use(user, await sign(user, { nonce: 1n }));
    expect(await capOwner(user)).toBe(user.keypair.toSuiAddress());
  });

  it("that another sender has submitted completes the service's own pending exit", async () => {
    const user = await newUser();
    const consent = await sign(user);
    await replica.stop();
    const { id: dwalletRowId } = await findDWallet(database, { projectId: user.projectId }, user.dwalletId);
    await storeConsent(database, callerOf(user.projectId), { network: "localnet", dwalletRowId, consent });
    const sent = await sendConsent(chain(), localnet.url, consent);
    replica = await start();
    expect(await use(user, consent)).toMatchObject({ txDigest: (sent as { digest: string }).digest });
    expect(await stateOf(user)).toBe("Left");
  });

  it("stays possible after a refusal of the administrator's release, which is sent once", async () => {
    const user = await newUser();
    const refusal = await sign(user, { action: "refuse" });
    const { txDigest } = await use(user, refusal);
    expect(txDigest).toBeDefined();
    expect(await use(user, refusal)).toMatchObject({ txDigest });
    expect((await use(user, await sign(user, { action: "refuse", nonce: 1n }))).txDigest).toBeUndefined();
    expect(await stateOf(user)).toBe("Active");
    await use(user, await sign(user, { nonce: 1n }));
    expect(await capOwner(user)).toBe(user.keypair.toSuiAddress());
  });
});

async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.reason;
    throw error;
  }
}
