-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "known_network" (
    "name" TEXT NOT NULL,
    "chain_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "known_network_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "project" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "balance_micro_usd" BIGINT NOT NULL DEFAULT 0,
    "held_micro_usd" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "encryption_key" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "curve" INTEGER NOT NULL,
    "signer_address" TEXT NOT NULL,
    "encryption_key" BYTEA NOT NULL,
    "signature" BYTEA NOT NULL,
    "signer_public_key" BYTEA NOT NULL,
    "object_id" TEXT,
    "tx_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "encryption_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dwallet" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "curve" INTEGER NOT NULL,
    "encryption_key_id" UUID NOT NULL,
    "network_encryption_key_id" TEXT NOT NULL,
    "sender_address" TEXT NOT NULL,
    "session_identifier" BYTEA NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "user_dkg_message" BYTEA NOT NULL,
    "encrypted_user_share_and_proof" BYTEA NOT NULL,
    "user_public_output" BYTEA NOT NULL,
    "signer_public_key" BYTEA NOT NULL,
    "state" TEXT NOT NULL,
    "failure_reason" TEXT,
    "object_id" TEXT,
    "cap_id" TEXT,
    "encrypted_user_secret_key_share_id" TEXT,
    "public_output" BYTEA,
    "public_key" BYTEA,
    "tx_digest" TEXT,
    "user_output_signature" BYTEA,
    "accept_tx_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dwallet_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "presign" (
    "id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "curve" INTEGER NOT NULL,
    "signature_algorithm" INTEGER NOT NULL,
    "network_encryption_key_id" TEXT NOT NULL,
    "session_bytes" BYTEA NOT NULL,
    "presign_id" TEXT,
    "presign" BYTEA,
    "state" TEXT NOT NULL,
    "tx_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "presign_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_request" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "dwallet_id" UUID NOT NULL,
    "presign_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "curve" INTEGER NOT NULL,
    "signature_algorithm" INTEGER NOT NULL,
    "hash_scheme" INTEGER NOT NULL,
    "message" BYTEA NOT NULL,
    "price_micro_usd" BIGINT NOT NULL,
    "status" TEXT NOT NULL,
    "user_sign_message" BYTEA,
    "idempotency_key" TEXT,
    "request_hash" BYTEA NOT NULL,
    "tx_digest" TEXT,
    "sign_session_id" TEXT,
    "signature" BYTEA,
    "failure_reason" TEXT,
    "failure_message" TEXT,
    "refunded" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sign_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "id" BIGSERIAL NOT NULL,
    "project_id" UUID NOT NULL,
    "amount_micro_usd" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chain_operation" (
    "id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "priority" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "alone" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "not_before" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tx_digest" TEXT,
    "failure_reason" TEXT,
    "failure_detail" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chain_operation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chain_transaction" (
    "digest" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "sender" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "signatures" TEXT[],
    "state" TEXT NOT NULL DEFAULT 'stored',
    "sends" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "gas_used_mist" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "chain_transaction_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "audit_event" (
    "id" BIGSERIAL NOT NULL,
    "actor" TEXT NOT NULL,
    "project_id" UUID,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "request_id" TEXT,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_project_id_idx" ON "api_key"("project_id");

-- CreateIndex
CREATE INDEX "encryption_key_project_id_object_id_idx" ON "encryption_key"("project_id", "object_id");

-- CreateIndex
CREATE UNIQUE INDEX "encryption_key_project_id_curve_signer_address_key" ON "encryption_key"("project_id", "curve", "signer_address");

-- CreateIndex
CREATE INDEX "dwallet_project_id_idx" ON "dwallet"("project_id");

-- CreateIndex
CREATE UNIQUE INDEX "dwallet_network_sender_address_session_identifier_key" ON "dwallet"("network", "sender_address", "session_identifier");

-- CreateIndex
CREATE UNIQUE INDEX "dwallet_network_object_id_key" ON "dwallet"("network", "object_id");

-- CreateIndex
CREATE UNIQUE INDEX "presign_network_presign_id_key" ON "presign"("network", "presign_id");

-- CreateIndex
CREATE INDEX "sign_request_presign_id_idx" ON "sign_request"("presign_id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_request_project_id_idempotency_key_key" ON "sign_request"("project_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_entry_key_key" ON "ledger_entry"("key");

-- CreateIndex
CREATE INDEX "ledger_entry_project_id_id_idx" ON "ledger_entry"("project_id", "id");

-- CreateIndex
CREATE INDEX "chain_operation_tx_digest_idx" ON "chain_operation"("tx_digest");

-- CreateIndex
CREATE UNIQUE INDEX "chain_operation_kind_subject_id_key" ON "chain_operation"("kind", "subject_id");

-- CreateIndex
CREATE INDEX "chain_transaction_network_created_at_idx" ON "chain_transaction"("network", "created_at");

-- CreateIndex
CREATE INDEX "audit_event_project_id_id_idx" ON "audit_event"("project_id", "id");

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "encryption_key" ADD CONSTRAINT "encryption_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dwallet" ADD CONSTRAINT "dwallet_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dwallet" ADD CONSTRAINT "dwallet_encryption_key_id_fkey" FOREIGN KEY ("encryption_key_id") REFERENCES "encryption_key"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_dwallet_id_fkey" FOREIGN KEY ("dwallet_id") REFERENCES "dwallet"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_presign_id_fkey" FOREIGN KEY ("presign_id") REFERENCES "presign"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chain_operation" ADD CONSTRAINT "chain_operation_tx_digest_fkey" FOREIGN KEY ("tx_digest") REFERENCES "chain_transaction"("digest") ON DELETE SET NULL ON UPDATE CASCADE;


-- What Prisma's schema language cannot say.

-- Money: nothing is spent that is not there, and nothing is spent that is held.
ALTER TABLE "project"
  ADD CONSTRAINT "project_held_within_balance" CHECK ("held_micro_usd" >= 0 AND "held_micro_usd" <= "balance_micro_usd"),
  ADD CONSTRAINT "project_network" CHECK ("network" IN ('localnet', 'testnet', 'mainnet'));
ALTER TABLE "ledger_entry"
  ADD CONSTRAINT "ledger_entry_kind" CHECK (
    ("kind" = 'sign' AND "amount_micro_usd" <= 0) OR ("kind" = 'refund' AND "amount_micro_usd" >= 0) OR "kind" = 'credit'
  );

-- States.
ALTER TABLE "presign" ADD CONSTRAINT "presign_state" CHECK (
  "state" IN ('requested', 'pending', 'ready', 'held', 'used', 'burnt')
  AND ("state" IN ('requested', 'burnt') OR "presign_id" IS NOT NULL)
  AND ("state" IN ('requested', 'pending', 'burnt') OR "presign" IS NOT NULL)
);
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_status" CHECK (
  "status" IN ('prepared', 'queued', 'submitted', 'completed', 'failed')
  AND ("status" IN ('prepared', 'failed') OR "user_sign_message" IS NOT NULL)
  AND (("status" = 'completed') = ("signature" IS NOT NULL))
  AND (("status" = 'failed') = ("failure_reason" IS NOT NULL))
);
ALTER TABLE "chain_operation"
  ADD CONSTRAINT "chain_operation_kind" CHECK ("kind" IN ('register', 'dkg', 'accept', 'presign', 'sign')),
  ADD CONSTRAINT "chain_operation_state" CHECK ("state" IN ('queued', 'sent', 'landed', 'failed'));
ALTER TABLE "chain_transaction"
  ADD CONSTRAINT "chain_transaction_state" CHECK ("state" IN ('stored', 'landed', 'aborted', 'dropped'));

-- A presign belongs to one living request: only one that expired gives it up.
CREATE UNIQUE INDEX "sign_request_living_presign" ON "sign_request" ("presign_id")
  WHERE "failure_reason" IS DISTINCT FROM 'RESERVATION_EXPIRED';
-- One lane has at most one transaction whose outcome is not known.
CREATE UNIQUE INDEX "chain_transaction_unresolved_lane" ON "chain_transaction" ("network", "lane") WHERE "state" = 'stored';

-- What the loops look for.
CREATE INDEX "presign_ready" ON "presign" ("network", "curve", "signature_algorithm", "network_encryption_key_id", "id")
  WHERE "state" = 'ready';
CREATE INDEX "presign_open" ON "presign" ("network", "id") WHERE "state" = 'pending';
CREATE INDEX "presign_stock" ON "presign" ("network", "curve", "signature_algorithm", "network_encryption_key_id")
  WHERE "state" IN ('requested', 'pending', 'ready');
CREATE INDEX "presign_spoilt" ON "presign" ("network", "updated_at") WHERE "state" = 'burnt' AND "presign" IS NULL;
CREATE INDEX "dwallet_bucket" ON "dwallet" ("network", "curve", "network_encryption_key_id")
  WHERE "state" NOT IN ('Failed', 'NetworkRejectedDKGVerification');
CREATE INDEX "sign_request_open" ON "sign_request" ("network", "id") WHERE "status" = 'submitted';
CREATE INDEX "sign_request_expiring" ON "sign_request" ("expires_at") WHERE "status" = 'prepared';
CREATE INDEX "dwallet_open" ON "dwallet" ("network", "id") WHERE "state" = 'AwaitingNetworkDKGVerification';
CREATE INDEX "chain_operation_queue" ON "chain_operation" ("network", "priority", "id") WHERE "state" = 'queued';

-- The ledger and the audit trail only grow.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_event"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
