import sql, { type Sql } from "sql-template-tag";
import { auditInsert } from "../../audit/audit-event.ts";
import { operationInsert } from "../../chain/operation.ts";
import { text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { newId } from "../../store/ids.ts";
import { isUniqueViolation } from "../../store/sql-errors.ts";
import { readRows } from "../../store/statements.ts";
import type { OnboardingCaller } from "../onboarding-deps.ts";
import type { SignedConsent } from "./check-consent.ts";
import { CONSENT_PRIORITY } from "./consent-operation.ts";

/**
 * Stores a consent and its consequences in one statement. A leave makes the dWallet Leaving and waits for its sign
 * requests; a refusal goes into the outbox at once. Returns the id of the consent, or undefined if another consent of
 * the dWallet is pending or its state has changed.
 */
export async function storeConsent(
  db: Queryable,
  caller: OnboardingCaller,
  input: NewConsent,
): Promise<string | undefined> {
  const id = newId();
  const statement = input.consent.action === "leave" ? leave(caller, id, input) : refuse(caller, id, input);
  try {
    const [stored] = await readRows(db, statement, { id: text });
    return stored?.id;
  } catch (error) {
    if (isUniqueViolation(error, "treasury_consent_under_way")) return undefined;
    throw error;
  }
}

/** A consent that has passed all checks. */
export interface NewConsent {
  readonly network: string;
  readonly dwalletRowId: string;
  readonly consent: SignedConsent;
}

/**
 * Reservations lock the dWallet's row FOR SHARE, so none begins after this statement. They lock the project's row
 * first. This statement does so too, because the row of the consent refers to it.
 */
const leave = (caller: OnboardingCaller, id: string, input: NewConsent) => sql`
WITH account AS (
  SELECT id FROM project WHERE id = ${caller.projectId} FOR KEY SHARE
), leaving AS (
  UPDATE dwallet d SET state = 'Leaving', updated_at = now() FROM account a
  WHERE d.id = ${input.dwalletRowId} AND d.project_id = a.id AND d.state = 'Active'
  RETURNING d.id, d.project_id
), consent AS (${insert(id, "settling", input, sql`leaving`)}
), audited AS (${auditInsert("dwallet.leave", sql`leaving`, caller.origin)})
SELECT id FROM consent`;

const refuse = ({ origin }: OnboardingCaller, id: string, input: NewConsent) => sql`
WITH subject AS (
  SELECT id, project_id FROM dwallet WHERE id = ${input.dwalletRowId} AND state NOT IN ('Leaving', 'Left')
), consent AS (${insert(id, "queued", input, sql`subject`)}
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, ${input.network}::text AS network, id AS subject_id FROM consent
), operation AS (${operationInsert({ kind: "consent", priority: CONSENT_PRIORITY, traceParent: origin.traceParent }, sql`asked`)}
), audited AS (${auditInsert("dwallet.refuse-release", sql`subject`, origin)})
SELECT id FROM consent`;

function insert(id: string, state: string, { network, consent }: NewConsent, source: Sql): Sql {
  const { action, chain, treasuryId, recipient, nonce, expiresEpoch, publicKey, signature } = consent;
  return sql`INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient,
                                           nonce, expires_epoch, public_key, signature, state)
    SELECT ${id}::uuid, project_id, ${network}::text, id, ${action}::text, ${chain}::bytea, ${treasuryId}::text,
           ${recipient ?? null}::text, ${nonce}::bigint, ${expiresEpoch}::bigint, ${publicKey}::bytea,
           ${signature}::bytea, ${state}::text FROM ${source} RETURNING id`;
}
