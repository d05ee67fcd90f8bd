import pg from "pg";

/** What {@link fillProjectLists} made, for the lists that need an id. */
export interface FilledLists {
  /** An endpoint with the deliveries. */
  readonly endpointId: string;
  /** The name of one dWallet. */
  readonly dwalletName: string;
  /** A user with thirty dWallets, twenty of which have sign requests, and ten sessions. */
  readonly userReference: string;
}

/** Rows per statement. */
const PIECE_COUNT = 100_000;

/**
 * Adds users, sessions, keys, dWallets, deposits and webhook deliveries to one project, `count` of each, beside what
 * `fillOldRows` wrote. One user in a thousand is frozen, one deposit in a thousand waits, and one delivery in a thousand
 * failed. Its user must be a superuser, because triggers and foreign keys are switched off.
 */
export async function fillProjectLists(
  databaseUrl: string,
  { projectId, count }: { readonly projectId: string; readonly count: number },
): Promise<FilledLists> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica; SET synchronous_commit = off");
    const endpointId = "01900000-0000-7000-8000-000000000001";
    await client.query("INSERT INTO webhook_project (project_id, endpoint_count) VALUES ($1, 1)", [
      projectId,
    ]);
    await client.query(
      `INSERT INTO webhook_endpoint (id, project_id, url, kinds, public_key, sequence)
       VALUES ($1, $2, 'https://app.example/webhooks', '{}', '\\x00', 0)`,
      [endpointId, projectId],
    );
    for (const statement of statementsFor(projectId, endpointId))
      for (let first = 0; first < count; first += PIECE_COUNT)
        await client.query(statement, [first, Math.min(first + PIECE_COUNT, count) - 1]);
    const userReference = "user-0000000";
    await client.query(
      `UPDATE dwallet SET user_reference = $2
       WHERE id IN (SELECT id FROM dwallet WHERE project_id = $1 AND name IS NULL LIMIT 20)`,
      [projectId, userReference],
    );
    await client.query("VACUUM (ANALYZE)");
    return { endpointId, dwalletName: "name 7", userReference };
  } finally {
    await client.end();
  }
}

function statementsFor(projectId: string, endpointId: string): readonly string[] {
  const project = `'${projectId}'::uuid`;
  const hash = (kind: string) => `md5('${projectId} ${kind} ' || n)`;
  const bytes = (kind: string) => `decode(${hash(kind)}, 'hex')`;
  const object = (kind: string) => `'0x' || ${hash(kind)} || ${hash(`${kind}+`)}`;
  /** Row `n` was made `n` seconds after a day in 2024. */
  const ms = "(1704067200000 + n * 1000::bigint)";
  const at = `to_timestamp(${ms} / 1000.0)`;
  const id = (kind: string) =>
    `(lpad(to_hex(${ms}), 12, '0') || '7' || substr(${hash(kind)}, 1, 3) || '8' || substr(${hash(kind)}, 4, 15))::uuid`;
  const user = `'user-' || lpad((n / 10 * 10)::text, 7, '0')`;
  const isOdd = "n % 1000 = 500";
  const from = "FROM generate_series($1::bigint, $2::bigint) AS n";
  return [
    `INSERT INTO project_user (project_id, reference, created_at, frozen_at)
     SELECT ${project}, 'user-' || lpad(n::text, 7, '0'), ${at}, CASE WHEN ${isOdd} THEN ${at} END ${from}`,
    `INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, created_at, expires_at)
     SELECT ${id("session")}, ${project}, ${user}, ${bytes("session")}, '{sign}', '{}', ${at}, ${at} ${from}`,
    `INSERT INTO api_key (id, project_id, name, prefix, hash, scopes, created_at)
     SELECT ${id("api")}, ${project}, 'key ' || n, 'tss_list', ${bytes("api")}, '{sign}', ${at} ${from}`,
    `INSERT INTO dwallet (id, project_id, network, curve, encryption_key_id, network_encryption_key_id, sender_address,
       session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof, user_public_output,
       signer_public_key, name, user_reference, state, object_id, public_output, public_key, created_at)
     SELECT ${id("wallet")}, ${project}, 'localnet', 0, ${id("wallet")}, '0x02', '0x03', ${bytes("wallet")}, '\\x00', '\\x00',
       '\\x00', '\\x00', '\\x00', 'name ' || n, ${user}, CASE WHEN ${isOdd} THEN 'Failed' ELSE 'Active' END,
       ${object("wallet")}, '\\x00', ${bytes("point")}, ${at} ${from}`,
    `INSERT INTO deposit_address (address, project_id, network, reference, created_at)
     SELECT ${object("address")}, ${project}, 'localnet', 'reference-' || lpad(n::text, 7, '0'), ${at} ${from}`,
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
       value_micro_usd, ledger_key, credited_at, created_at)
     SELECT ${id("deposit")}, ${project}, 'localnet', ${object("address")}, ${hash("payment")}, '0x2::sui::SUI', 1,
       CASE WHEN ${isOdd} THEN 'waiting' ELSE 'credited' END, CASE WHEN NOT ${isOdd} THEN 1 END,
       CASE WHEN NOT ${isOdd} THEN 1 END, CASE WHEN NOT ${isOdd} THEN 'deposit:' || ${hash("payment")} END,
       CASE WHEN NOT ${isOdd} THEN ${at} END, ${at} ${from}`,
    `INSERT INTO webhook_delivery (id, endpoint_id, project_id, sequence, event_id, kind, subject, data, event_time,
       state, attempts, created_at, ended_at)
     SELECT ${id("delivery")}, '${endpointId}', ${project}, n, ${id("delivery")}, 'sign.completed', 'subject', '{}', ${at},
       CASE WHEN ${isOdd} THEN 'failed' ELSE 'delivered' END, 1, ${at}, ${at} ${from}`,
  ];
}
