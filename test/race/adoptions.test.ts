/** Adoptions at the same time, and beside requests for the DKG of the same dWallet, on a real PostgreSQL. */
import { create } from "@bufbuild/protobuf";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, describe, expect, it } from "vitest";
import { AdoptDWalletRequestSchema } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { sessionIdentifierPreimage } from "../../src/protocol/chain/session-identifier.ts";
import { adoptDWallet } from "../../src/service/onboarding/adopt-dwallet.ts";
import { createDkgOperation } from "../../src/service/onboarding/dkg-operation.ts";
import type { OnboardingDeps } from "../../src/service/onboarding/onboarding-deps.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { dkgRequested } from "../support/chain/chain-bytes.ts";
import { custodyObjects } from "../support/chain/treasury-bytes.ts";
import { type Adoptable, adoptable } from "../support/database/adoptions.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { dwalletOf, moneyOf, objectId, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { onboardingCalls } from "../support/service/onboarding-calls.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 20_000n;
const TREASURY = objectId();
const CHAIN = new Uint8Array(32).fill(5);
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a dWallet on the chain", () => {
  const db = database!;
  const adoptableOf = (projectId: string) => adoptable(db, { projectId, treasuryId: TREASURY, chain: CHAIN });

  function adopt(wallet: Adoptable, projectId: string, request = wallet.request()) {
    const objects = new Map([...custodyObjects(TREASURY, wallet.custody), ...wallet.contents]);
    const deps = {
      database: db,
      network: { name: "localnet", treasury: { treasuryId: TREASURY } },
      readerFor: () => ({
        getObjects: async (ids: readonly string[]) =>
          new Map([...objects].filter(([id]) => ids.includes(id))),
        epoch: async () => ({ epoch: 1n }),
        chainIdentifier: async () => toBase58(CHAIN),
      }),
      dkgsPerDay: 100,
      usersMaxCount: 10,
    } as unknown as OnboardingDeps;
    const message = create(AdoptDWalletRequestSchema, request);
    return adoptDWallet(deps, { origin: TEST_ORIGIN, projectId }, message);
  }
  const rowsOf = ({ dwalletId }: Adoptable) =>
    db.query<{ id: string; projectId: string; adopted: boolean }>(
      `SELECT id, project_id AS "projectId", adopted_at IS NOT NULL AS adopted FROM dwallet WHERE object_id = $1`,
      [dwalletId],
    );
  /** Makes a row of the project the request for this dWallet's DKG, whose outcome is not stored yet. */
  async function requestedBy(projectId: string, wallet: Adoptable): Promise<string> {
    const { rowId } = await dwalletOf(db, projectId, { state: "Submitting" });
    const signer = "UPDATE dwallet SET object_id = NULL, signer_public_key = $2 WHERE id = $1";
    await db.query(signer, [rowId, wallet.signerPublicKey]);
    return rowId;
  }

  it("is adopted once by many callers of one project, and all get it", async () => {
    const projectId = await projectWith(db, PRICE);
    const wallet = await adoptableOf(projectId);
    const rows = await Promise.all(Array.from({ length: 16 }, () => adopt(wallet, projectId)));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(await rowsOf(wallet)).toHaveLength(1);
    const audited = "SELECT 1 FROM audit_event WHERE project_id = $1 AND action = 'dwallet.adopt'";
    expect(await db.query(audited, [projectId])).toHaveLength(1);
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: 0n, differences: [] });
  });

  it("goes to one of several projects that its owner has consented to, and the others are told", async () => {
    const projects = await Promise.all(Array.from({ length: 8 }, () => projectWith(db, 0n)));
    const wallet = await adoptableOf(projects[0]!);
    for (const projectId of projects.slice(1))
      await db.query(
        `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                     signer_public_key, object_id)
         SELECT $1, $2, network, curve, signer_address, encryption_key, signature, signer_public_key, object_id
         FROM encryption_key WHERE signer_public_key = $3 LIMIT 1`,
        [newId(), projectId, wallet.signerPublicKey],
      );
    const results = await Promise.all(
      projects.map((projectId) => refusalOf(adopt(wallet, projectId, wallet.request({ projectId })))),
    );
    expect(results.filter((result) => result === "not refused")).toHaveLength(1);
    expect(results.filter((result) => result === "DWALLET_TAKEN")).toHaveLength(7);
    const [row, ...others] = await rowsOf(wallet);
    expect([row!.projectId, others]).toEqual([projects[results.indexOf("not refused")], []]);
  });

  it("is never adopted instead of being paid for while its DKG's outcome is being stored", async () => {
    const projectId = await projectWith(db, PRICE);
    const wallet = await adoptableOf(projectId);
    const rowId = await requestedBy(projectId, wallet);
    const tried = await db.transaction(async (inside) => {
      const land = "UPDATE dwallet SET state = 'Active', object_id = $2 WHERE id = $1";
      await inside.query(land, [rowId, wallet.dwalletId]);
      // The calls see the row as it was before this transaction.
      return await Promise.all(Array.from({ length: 8 }, () => refusalOf(adopt(wallet, projectId))));
    });
    expect(new Set(tried)).toEqual(new Set(["WRONG_STATE"]));
    expect((await adopt(wallet, projectId)).id).toBe(rowId);
    expect(await rowsOf(wallet)).toMatchObject([{ id: rowId, adopted: false }]);
  });

  it("that was adopted ends a repeated request for its old DKG, which is refunded once", async () => {
    const projectId = await projectWith(db, PRICE);
    const wallet = await adoptableOf(projectId);
    const { id } = await adopt(wallet, projectId);
    const onboarding = onboardingCalls(db, { dkgPriceMicroUsd: PRICE });
    const key = await onboarding.registeredKey(projectId);
    const request = onboarding.dkgRequest(key);
    const { senderAddress, sessionIdentifier } = request;
    const made = await onboarding.createDWallet(projectId, request);
    await db.query("UPDATE dwallet SET object_id = NULL WHERE id = $1", [made.id]);
    expect((await moneyOf(db, projectId)).balance).toBe(0n);

    const preimage = sessionIdentifierPreimage(sessionIdentifier, senderAddress);
    const { dwalletId } = wallet;
    const ids = { dwalletId, capId: objectId(), shareId: objectId(), ownerAddress: key.signerAddress };
    const events = [dkgRequested(preimage, ids)];
    const reader = { sessionRequest: async () => ({ digest: "old", events }) };
    const operation = createDkgOperation(reader as never, senderAddress);
    for (let time = 0; time < 2; time++) {
      const subject = (await operation.load(db, [made.id])).get(made.id)!;
      const failure = { reason: "CHAIN_REJECTED", message: "the session is registered" } as const;
      expect(await operation.adopt(db, subject, failure)).toBe(true);
    }
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: 0n, differences: [] });
    expect(await rowsOf(wallet)).toMatchObject([{ id, adopted: true }]);
    expect(await refusalOf(onboarding.createDWallet(projectId, request))).toBe("DWALLET_TAKEN");
  });
});
