-- What takes a dWallet's capability out of the Treasury. Replicas of the last release write none.
ALTER TABLE "dwallet" ADD COLUMN "leave_tx_digest" TEXT;
ALTER TABLE "dwallet" ADD COLUMN "left_version" BIGINT;

-- CreateTable
CREATE TABLE "treasury_consent" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "dwallet_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "chain" BYTEA NOT NULL,
    "treasury_id" TEXT NOT NULL,
    "recipient" TEXT,
    "nonce" BIGINT NOT NULL,
    "expires_epoch" BIGINT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "signature" BYTEA NOT NULL,
    "state" TEXT NOT NULL,
    "tx_digest" TEXT,
    "failure_reason" TEXT,
    "failure_message" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "treasury_consent_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "treasury_consent_dwallet_id_id_idx" ON "treasury_consent"("dwallet_id", "id");

-- AddForeignKey
ALTER TABLE "treasury_consent" ADD CONSTRAINT "treasury_consent_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "treasury_consent" ADD CONSTRAINT "treasury_consent_dwallet_id_fkey" FOREIGN KEY ("dwallet_id") REFERENCES "dwallet"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.

ALTER TABLE "treasury_consent"
  ADD CONSTRAINT "treasury_consent_action" CHECK (
    "action" IN ('leave', 'refuse') AND ("action" = 'leave') = ("recipient" IS NOT NULL)
  ),
  ADD CONSTRAINT "treasury_consent_state" CHECK (
    "state" IN ('settling', 'queued', 'landed', 'failed')
    AND ("state" <> 'settling' OR "action" = 'leave')
    AND ("state" = 'landed') = ("tx_digest" IS NOT NULL)
    AND ("state" = 'failed') = ("failure_reason" IS NOT NULL)
    AND ("failure_reason" IS NULL) = ("failure_message" IS NULL)
  );
-- One consent of a dWallet at a time.
CREATE UNIQUE INDEX "treasury_consent_under_way" ON "treasury_consent" ("dwallet_id") WHERE "state" IN ('settling', 'queued');
-- What the loop looks for.
CREATE INDEX "treasury_consent_settling" ON "treasury_consent" ("network", "id") WHERE "state" = 'settling';

-- Every row so far satisfies the former, narrower constraint.
ALTER TABLE "chain_operation"
  DROP CONSTRAINT "chain_operation_kind",
  ADD CONSTRAINT "chain_operation_kind"
    CHECK ("kind" IN ('register', 'dkg', 'accept', 'presign', 'sign', 'sweep', 'consent')) NOT VALID;
