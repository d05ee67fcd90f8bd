/** The parameters of one run of {@link fillStatements}. */
export interface OldRowParameters {
  /** Distinguishes the ids of one run from those of another. */
  readonly tag: string;
  /** Rows end one day before this moment. */
  readonly now: Date;
  readonly network: string;
  readonly networkEncryptionKeyId: string;
  /** The state of the dWallets: `Active`, or one for which workers fill no pool. */
  readonly dwalletState: string;
  readonly projectCount: number;
  readonly dwalletCount: number;
  /** Number of sign requests, from which the size of every other table follows. */
  readonly requestCount: number;
  /** The share of the first project: a fifth of all rows, or nine tenths. */
  readonly largestShare: "fifth" | "nine-tenths";
}

const DAYS = 365;
const DAY_MS = 86_400_000;
const BATCH_COUNT = 10;
const PRICE_MICRO_USD = 10_000;

/**
 * Returns the SQL that fills every growing table, in an order that satisfies foreign keys. Each statement takes the
 * first and the last number of a range, so that a caller can insert many rows in pieces; `of` names what the numbers
 * count.
 *
 * One request in fifty expired, one was rejected and refunded, and all others are completed. Rows are spread over the last year and end a day ago. Long values have only 64 bytes here: a real user's
 * half of 7,144 bytes is stored out of line and is not read once the request has ended, so these rows are no denser
 * than real ones.
 */
export function fillStatements(options: OldRowParameters): readonly FillStatement[] {
  const { tag, network, networkEncryptionKeyId, dwalletState, largestShare } = options;
  const { projectCount, dwalletCount, requestCount } = options;

  const nowMs = options.now.getTime();
  const now = `timestamptz '${options.now.toISOString()}'`;
  const yearAgo = String(nowMs - (DAYS + 1) * DAY_MS);
  /** The time of request `n` and of its rows in other tables, in milliseconds since the epoch. */
  const momentMs = (n: string) =>
    `(${nowMs - DAY_MS} - (${requestCount} - (${n})) * ${Math.floor((DAYS * DAY_MS) / requestCount)}::bigint)`;
  const at = (ms: string) => `to_timestamp(${ms} / 1000.0)`;
  const moment = (n: string) => at(momentMs(n));
  const hash = (kind: string, n: string) => `md5('${tag} ${kind} ' || (${n}))`;
  const bytes = (kind: string, n: string) => `decode(${hash(kind, n)} || ${hash(`${kind}+`, n)}, 'hex')`;
  const long = (kind: string, n: string) => `${bytes(kind, n)} || ${bytes(`${kind}++`, n)}`;
  const object = (kind: string, n: string) => `'0x' || ${hash(kind, n)} || ${hash(`${kind}+`, n)}`;
  /** Base 58 has no zero. */
  const digest = (kind: string, n: string) =>
    `translate(substr(${hash(kind, n)} || ${hash(`${kind}+`, n)}, 1, 44), '0', 'g')`;
  /** A version 7 UUID of that time. */
  const id = (kind: string, n: string, ms = momentMs(n)) =>
    `(lpad(to_hex(${ms}), 12, '0') || '7' || substr(${hash(kind, n)}, 1, 3)
      || '8' || substr(${hash(kind, n)}, 4, 15))::uuid`;
  const projectId = (n: string) => id("project", n, yearAgo);
  const isOfLargest = (n: string) => (largestShare === "fifth" ? `(${n}) % 5 = 0` : `(${n}) % 10 <> 0`);
  /** The number of a request of another project: of nine tenths, every tenth number is left. */
  const ofOthers = (n: string) => (largestShare === "fifth" ? `(${n})` : `((${n}) / 10)`);
  const projectOf = (n: string) =>
    projectId(`CASE WHEN ${isOfLargest(n)} THEN 0 ELSE ${ofOthers(n)} % ${projectCount} END`);
  /**
   * The numbers of a dWallet and its project are equal modulo the project count, so a request finds a dWallet of its
   * own project.
   */
  const dwalletOf = (n: string) =>
    `CASE WHEN ${isOfLargest(n)} THEN (${n}) % ${dwalletCount / projectCount} * ${projectCount}
      ELSE ${ofOthers(n)} % ${dwalletCount} END`;
  const dwalletId = (n: string) => id("dwallet", n, yearAgo);
  const keyId = (n: string) => id("key", n, yearAgo);
  const isExpired = (n: string) => `(${n}) % 50 = 1`;
  const isRejected = (n: string) => `(${n}) % 50 = 2`;
  const presignOf = (n: string) => id("presign", `CASE WHEN ${isExpired(n)} THEN (${n}) + 1 ELSE (${n}) END`);
  const transactionOf = (kind: string, n: string) => digest(`tx-${kind}`, `(${n}) / ${BATCH_COUNT}`);
  const series = "generate_series($1::bigint, $2::bigint) AS n";
  const requests = `${series} WHERE NOT ${isExpired("n")}`;

  const operation = (kind: string, priority: number) => `
    INSERT INTO chain_operation (id, network, kind, subject_id, priority, state, tx_digest, created_at, updated_at)
    SELECT ${id(`op-${kind}`, "n")}, '${network}', '${kind}', ${id(kind, "n")}, ${priority}, 'landed',
      ${transactionOf(kind, "n")}, ${moment("n")}, ${moment("n")} FROM ${requests}`;
  const transaction = (kind: string) => `
    INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, sends, gas_used_mist,
                                   created_at, resolved_at)
    SELECT ${transactionOf(kind, "n")}, '${network}', ${object("sender", "0")}, ${object("lane", "n % 8")},
      ${long("bytes", "n")}, ARRAY[${hash("signature", "n")}], 'landed', 1, 1000000, ${moment("n")}, ${moment("n")}
    FROM ${series} WHERE n % ${BATCH_COUNT} = 0`;

  return [
    {
      of: "projects",
      db: `INSERT INTO project (id, name, network, created_at)
        SELECT ${projectId("n")}, 'old ' || n, '${network}', ${at(yearAgo)} FROM ${series}`,
    },
    {
      of: "projects",
      db: `INSERT INTO api_key (id, project_id, name, prefix, hash, scopes, created_at)
        SELECT ${id("api", "n", yearAgo)}, ${projectId("n")}, 'old', 'tss_old',
          ${bytes("api", "n")}, ARRAY['sign'], ${at(yearAgo)} FROM ${series}`,
    },
    {
      of: "projects",
      db: `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description, created_at)
        SELECT ${projectId("n")}, 1000000000000, 'credit', 'credit:${tag}:' || n, 'Credit',
          ${at(yearAgo)} FROM ${series}`,
    },
    {
      of: "dwallets",
      db: `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                        signer_public_key, object_id, created_at)
        SELECT ${keyId("n")}, ${projectId(`n % ${projectCount}`)}, '${network}', 0, ${object("signer", "n")},
          ${long("key", "n")}, ${bytes("proof", "n")}, ${bytes("public", "n")}, ${object("key", "n")},
          ${at(yearAgo)} FROM ${series}`,
    },
    {
      of: "dwallets",
      db: `INSERT INTO dwallet (id, project_id, network, curve, encryption_key_id, network_encryption_key_id,
                                 sender_address, session_identifier, request_hash, user_dkg_message,
                                 encrypted_user_share_and_proof, user_public_output, signer_public_key, state,
                                 object_id, public_output, public_key, created_at)
        SELECT ${dwalletId("n")}, ${projectId(`n % ${projectCount}`)}, '${network}', 0, ${keyId("n")},
          '${networkEncryptionKeyId}', ${object("sender", "0")}, ${bytes("session", "n")}, ${bytes("request", "n")},
          ${long("dkg", "n")}, ${long("share", "n")}, ${long("output", "n")}, ${bytes("public", "n")},
          '${dwalletState}', ${object("dwallet", "n")}, ${long("output", "n")}, ${bytes("point", "n")},
          ${at(yearAgo)} FROM ${series}`,
    },
    { of: "requests", db: transaction("presign") },
    { of: "requests", db: transaction("sign") },
    {
      of: "requests",
      db: `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes,
                                 presign_id, presign, state, tx_digest, created_at, ready_at, updated_at)
        SELECT ${id("presign", "n")}, '${network}', 0, 0, '${networkEncryptionKeyId}', ${bytes("session", "n")},
          ${object("presign", "n")}, ${long("presign", "n")}, 'used', ${transactionOf("presign", "n")}, ${moment("n")},
          ${moment("n")}, ${moment("n")} FROM ${requests}`,
    },
    {
      of: "requests",
      db: `INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
              hash_scheme, message, price_micro_usd, status, user_sign_message, tx_digest, sign_session_id, signature,
              failure_reason, failure_message, refunded, expires_at, created_at, updated_at)
        SELECT ${id("sign", "n")}, ${projectOf("n")}, ${dwalletId(dwalletOf("n"))}, ${presignOf("n")}, '${network}', 0,
          0, 0, ${bytes("message", "n")}, ${PRICE_MICRO_USD},
          CASE WHEN ${isExpired("n")} OR ${isRejected("n")} THEN 'failed' ELSE 'completed' END,
          CASE WHEN NOT ${isExpired("n")} THEN ${long("half", "n")} END,
          CASE WHEN NOT ${isExpired("n")} THEN ${transactionOf("sign", "n")} END,
          CASE WHEN NOT ${isExpired("n")} THEN ${object("sign", "n")} END,
          CASE WHEN NOT (${isExpired("n")} OR ${isRejected("n")}) THEN ${long("signature", "n")} END,
          CASE WHEN ${isExpired("n")} THEN 'RESERVATION_EXPIRED' WHEN ${isRejected("n")} THEN 'NETWORK_REJECTED' END,
          CASE WHEN ${isExpired("n")} OR ${isRejected("n")} THEN 'it failed' END, ${isRejected("n")},
          ${moment("n")} + interval '10 minutes', ${moment("n")}, ${moment("n")} FROM ${series}`,
    },
    {
      of: "requests",
      db: `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description, created_at)
        SELECT ${projectOf("n")}, amount, kind, kind || ':' || ${id("sign", "n")}, 'Signature', ${moment("n")}
        FROM generate_series($1::bigint, $2::bigint) AS n
          JOIN (VALUES ('sign', -${PRICE_MICRO_USD}), ('refund', ${PRICE_MICRO_USD})) AS e (kind, amount)
            ON e.kind = 'sign' OR ${isRejected("n")}
        WHERE NOT ${isExpired("n")}`,
    },
    { of: "requests", db: operation("presign", 50) },
    { of: "requests", db: operation("sign", 10) },
    {
      of: "requests",
      db: `INSERT INTO audit_event (actor, project_id, action, subject, request_id, address, created_at)
        SELECT 'key:' || ${projectOf("n")}, ${projectOf("n")}, action, (${id("sign", "n")})::text,
          ${hash("call", "n")}, '192.0.2.1', ${moment("n")}
        FROM generate_series($1::bigint, $2::bigint) AS n
          CROSS JOIN (VALUES ('sign.reserve'), ('sign.submit')) AS a (action)`,
    },
    {
      of: "requests",
      db: `INSERT INTO idempotency_key (scope, network, key, method, fingerprint, subject_id, created_at, expires_at)
        SELECT (${projectOf("n")})::text, '${network}', ${hash("idempotency", "n")}, 'tss.v1.Signing/ReserveSign',
          ${bytes("fingerprint", "n")}, ${id("sign", "n")}, ${now} - (1 - n / ${requestCount}.0) * interval '1 day',
          ${now} + n / ${requestCount}.0 * interval '1 day' FROM ${series}`,
    },
  ];
}

/** One statement, and what its range of numbers counts. */
export interface FillStatement {
  readonly of: "projects" | "dwallets" | "requests";
  readonly db: string;
}
