-- Shares of dWallets that their owners have encrypted for other users.
CREATE TABLE "dwallet_share" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "dwallet_id" UUID NOT NULL,
    "encryption_key_id" UUID NOT NULL,
    "user_reference" TEXT COLLATE "C",
    "source_share_id" TEXT NOT NULL,
    "encrypted_user_share_and_proof" BYTEA NOT NULL,
    "share_hash" BYTEA NOT NULL,
    "state" TEXT NOT NULL,
    "failure_reason" TEXT,
    "price_micro_usd" BIGINT NOT NULL,
    "refunded" BOOLEAN NOT NULL DEFAULT false,
    "allowance_id" UUID,
    "allowance_slot" BIGINT,
    "object_id" TEXT,
    "tx_digest" TEXT,
    "user_output_signature" BYTEA,
    "accept_tx_digest" TEXT,
    "accepted_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dwallet_share_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "dwallet_share_dwallet_id_id_idx" ON "dwallet_share"("dwallet_id", "id");

-- CreateIndex
CREATE INDEX "dwallet_share_project_id_created_at_idx" ON "dwallet_share"("project_id", "created_at");

-- CreateIndex
CREATE INDEX "dwallet_share_encryption_key_id_idx" ON "dwallet_share"("encryption_key_id");

-- AddForeignKey
ALTER TABLE "dwallet_share" ADD CONSTRAINT "dwallet_share_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dwallet_share" ADD CONSTRAINT "dwallet_share_dwallet_id_fkey" FOREIGN KEY ("dwallet_id") REFERENCES "dwallet"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dwallet_share" ADD CONSTRAINT "dwallet_share_encryption_key_id_fkey" FOREIGN KEY ("encryption_key_id") REFERENCES "encryption_key"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The users besides its own who may sign with a dWallet. The statements that reserve and submit read it with the row.
ALTER TABLE "dwallet" ADD COLUMN     "holder_users" TEXT[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::TEXT[];

-- What Prisma's schema language cannot say.
ALTER TABLE "dwallet_share" ADD CONSTRAINT "dwallet_share_state" CHECK ("state" IN (
  'Submitting', 'Failed', 'AwaitingNetworkVerification', 'NetworkVerificationRejected', 'AwaitingAcceptance',
  'Accepted', 'Removed'));

-- A recipient has one share at a time.
CREATE UNIQUE INDEX "dwallet_share_recipient" ON "dwallet_share" ("dwallet_id", "encryption_key_id")
  WHERE "state" NOT IN ('Failed', 'NetworkVerificationRejected', 'Removed');

-- An owner's consent is for one ciphertext, and counts once, also after its holder was removed.
CREATE UNIQUE INDEX "dwallet_share_consent" ON "dwallet_share" ("dwallet_id", "share_hash") WHERE "state" <> 'Failed';

CREATE UNIQUE INDEX "dwallet_share_object" ON "dwallet_share" ("network", "object_id") WHERE "object_id" IS NOT NULL;

-- The shares that the network has yet to verify.
CREATE INDEX "dwallet_share_open" ON "dwallet_share" ("network", "id") WHERE "state" = 'AwaitingNetworkVerification';

ALTER TABLE "chain_operation"
  DROP CONSTRAINT "chain_operation_kind",
  ADD CONSTRAINT "chain_operation_kind"
    CHECK ("kind" IN ('register', 'dkg', 'accept', 'presign', 'sign', 'sweep', 'consent', 'share', 'accept_share')) NOT VALID;

-- Every entry that is there met the narrower rule before, so none has to be looked at again.
ALTER TABLE "ledger_entry"
  DROP CONSTRAINT "ledger_entry_kind",
  ADD CONSTRAINT "ledger_entry_kind" CHECK (
    ("kind" IN ('sign', 'dkg', 'share') AND "amount_micro_usd" <= 0)
    OR ("kind" IN ('refund', 'dkg_refund', 'share_refund', 'deposit') AND "amount_micro_usd" >= 0)
    OR "kind" = 'credit'
  ) NOT VALID;

-- A share counts for the user of its dWallet, who pays for it.
CREATE OR REPLACE FUNCTION "add_to_ledger_user_hour"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_user_hour AS h (project_id, user_reference, hour, kind, entry_count, amount_micro_usd)
  SELECT w.project_id, d.user_reference, date_trunc('hour', w.created_at, 'UTC'), w.kind, count(*),
    sum(w.amount_micro_usd)
  FROM written w
  JOIN dwallet d ON d.id = CASE
    WHEN w.kind IN ('dkg', 'dkg_refund') THEN ledger_subject(w.kind, w.key)
    WHEN w.kind IN ('share', 'share_refund') THEN
      (SELECT s.dwallet_id FROM dwallet_share s WHERE s.id = ledger_subject(w.kind, w.key))
    ELSE (SELECT r.dwallet_id FROM sign_request r WHERE r.id = ledger_subject(w.kind, w.key)) END
  WHERE w.kind IN ('sign', 'refund', 'dkg', 'dkg_refund', 'share', 'share_refund') AND d.user_reference IS NOT NULL
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (project_id, user_reference, hour, kind) DO UPDATE SET entry_count = h.entry_count + excluded.entry_count,
    amount_micro_usd = h.amount_micro_usd + excluded.amount_micro_usd;
  RETURN NULL;
END
$$;
