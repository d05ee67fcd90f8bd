import { randomBytes } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { findTriple } from "../../../src/protocol/algorithms.ts";
import { insertProject } from "../../../src/service/access/projects.ts";
import { creditProject } from "../../../src/service/ledger/credit-project.ts";
import { verifyLedger } from "../../../src/service/ledger/verify-ledger.ts";
import type { Idempotency } from "../../../src/service/platform/idempotency/idempotency.ts";
import { type Database, newId } from "../../../src/service/platform/store/database.ts";
import type { PresignBucket } from "../../../src/service/presigns/bucket.ts";
import { ensureUser } from "../../../src/service/users/ensure-user.ts";
import { addKeyUser } from "../../../src/service/users/key-users.ts";

/** The origin of test rows. */
export const TEST_ORIGIN = { actor: "system" } as const;

/** The origin of an operator's calls. */
export const TEST_OPERATOR = {
  kind: "admin",
  network: "localnet",
  networks: ["localnet"],
  origin: TEST_ORIGIN,
} as const;

/** The combination of test rows. Its sign message has a layout to check, but no secret. */
export const TEST_TRIPLE = findTriple("SECP256K1", "ECDSASecp256k1", "SHA256")!;

/** A time before every row. */
export const NO_ROW = "00000000-0000-0000-0000-000000000000";

/** Returns the identity of a reservation with this idempotency key. Another `request` gives another identity. */
export function keyed(key: string, request = 0): Idempotency {
  return { key, method: "tss.v1.Signing/ReserveSign", fingerprint: new Uint8Array(32).fill(request) };
}

/** A fresh object id. */
export const objectId = (): string => `0x${randomBytes(32).toString("hex")}`;

/** A project with credit. */
export async function projectWith(
  database: Database,
  creditMicroUsd: bigint,
  network = "localnet",
): Promise<string> {
  const projectId = await insertProject(database, TEST_ORIGIN, { name: "test", network });
  if (creditMicroUsd > 0n) {
    const credit = {
      projectId,
      amountMicroUsd: creditMicroUsd,
      reference: projectId,
      description: "test credit",
    };
    if (!(await creditProject(database, TEST_ORIGIN, credit))) throw new Error("not credited");
  }
  return projectId;
}

/** A dWallet in the database, with the whole secret key, which no single party of a real dWallet has. */
export interface TestDWalletRow {
  readonly rowId: string;
  readonly objectId: string;
  readonly secretKey: Uint8Array;
  readonly bucket: PresignBucket;
}

export interface TestDWalletOptions {
  /** Default Active. */
  readonly state?: string;
  /** Default: one that nothing else has. */
  readonly networkEncryptionKeyId?: string;
  /** Default: the dWallet belongs to no user. */
  readonly userReference?: string;
}

/** Inserts a dWallet of the project under its own network encryption key, so that suites do not share buckets. */
export async function dwalletOf(
  database: Database,
  projectId: string,
  { state = "Active", networkEncryptionKeyId = objectId(), userReference }: TestDWalletOptions = {},
): Promise<TestDWalletRow> {
  const { secretKey, publicKey } = secp256k1.keygen();
  const [rowId, keyId, id] = [newId(), newId(), objectId()];
  await database.query(
    `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                 signer_public_key, object_id)
     VALUES ($1, $2, 'localnet', 0, $3, '\\x00', '\\x00', '\\x00', $4)`,
    [keyId, projectId, objectId(), objectId()],
  );
  await database.query(
    `INSERT INTO dwallet (id, project_id, network, curve, encryption_key_id, network_encryption_key_id, sender_address,
       session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof, user_public_output,
       signer_public_key, state, object_id, public_output, public_key)
     VALUES ($1, $2, 'localnet', 0, $3, $4, $5, $6, '\\x00', '\\x00', '\\x00', '\\x00', '\\x00', $7, $8, $9, $10)`,
    [
      rowId,
      projectId,
      keyId,
      networkEncryptionKeyId,
      objectId(),
      randomBytes(32),
      state,
      id,
      state === "Active" ? Uint8Array.of(1, 2, 3) : null,
      publicKey,
    ],
  );
  if (userReference !== undefined) {
    const user = { projectId, reference: userReference };
    await database.transaction((db) => ensureUser(db, user, 1_000_000));
    await addKeyUser(database, user, keyId);
    await database.query("UPDATE dwallet SET user_reference = $2 WHERE id = $1", [rowId, userReference]);
  }
  const bucket = { network: "localnet", curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId };
  return { rowId, objectId: id, secretKey, bucket };
}

/** Inserts ready presigns of the bucket. Returns their object ids, the oldest first. */
export async function readyPresigns(
  database: Database,
  bucket: PresignBucket,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, objectId);
  for (const id of ids) {
    await database.query(
      `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes,
                            presign_id, presign, state)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'ready')`,
      [
        newId(),
        bucket.network,
        bucket.curve,
        bucket.signatureAlgorithm,
        bucket.networkEncryptionKeyId,
        randomBytes(32),
        id,
        randomBytes(16),
      ],
    );
  }
  return ids;
}

/** Bytes with the layout of a user's ECDSA sign message on secp256k1. */
export function layoutOfSignMessage(): Uint8Array {
  const LENGTH = 7144;
  const point = [0x21, ...secp256k1.Point.BASE.toBytes()];
  const form = [0x80, 0x02, ...new Uint8Array(256)];
  const body = [...Array(6).fill(point), ...Array(4).fill(form)].flat() as number[];
  const message = new Uint8Array(LENGTH);
  const bodyLength = LENGTH - 3;
  message.set([0, (bodyLength & 127) | 128, bodyLength >> 7, ...body]);
  return message;
}

/** The dWallet's ECDSA signature as the chain stores it: v, r, s. */
export function chainSignature(dwallet: TestDWalletRow, message: Uint8Array): Uint8Array {
  return secp256k1.sign(sha256(message), dwallet.secretKey, { prehash: false, format: "recovered" });
}

/** Returns a project's balance and the faults of the ledger. */
export async function moneyOf(database: Database, projectId: string) {
  const [money] = await database.query<{ balance: bigint; held: bigint }>(
    "SELECT balance_micro_usd AS balance, held_micro_usd AS held FROM project WHERE id = $1",
    [projectId],
  );
  return { ...money, differences: await verifyLedger(database) };
}
