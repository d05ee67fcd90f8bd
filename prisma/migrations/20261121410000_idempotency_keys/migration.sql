-- CreateTable
CREATE TABLE "idempotency_key" (
    "scope" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "subject_id" UUID,
    "reply" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("scope", "network", "key")
);

-- Keys still count for what is left of their day.
INSERT INTO "idempotency_key" ("scope", "network", "key", "method", "fingerprint", "subject_id", "created_at", "expires_at")
SELECT "project_id"::text, "network", "idempotency_key", 'tss.v1.Signing/ReserveSign', "request_hash", "id",
       "created_at", "created_at" + interval '24 hours'
FROM "sign_request" WHERE "idempotency_key" IS NOT NULL AND "created_at" > now() - interval '24 hours';

-- CreateIndex
CREATE INDEX "idempotency_key_expires_at_idx" ON "idempotency_key"("expires_at");

-- DropIndex
DROP INDEX "sign_request_project_id_idempotency_key_key";

-- AlterTable. A process of the version before fails on this, rather than reserve twice for one key.
ALTER TABLE "sign_request" DROP COLUMN "idempotency_key",
DROP COLUMN "request_hash";
