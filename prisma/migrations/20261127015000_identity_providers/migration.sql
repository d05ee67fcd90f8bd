-- The issuers of ID tokens that projects trust, and what replicas share about proofs.
-- CreateTable
CREATE TABLE "identity_provider" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "audiences" TEXT[],
    "reference_claim" TEXT NOT NULL,
    "key_set_url" TEXT,
    "key_set" TEXT,
    "algorithms" TEXT[],
    "token_max_age_seconds" INTEGER NOT NULL,
    "allows_unbound" BOOLEAN NOT NULL,
    "scopes" TEXT[],
    "origins" TEXT[],
    "session_seconds" INTEGER NOT NULL,
    "window_seconds" INTEGER,
    "max_count" INTEGER,
    "max_micro_usd" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "identity_provider_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "identity_provider" ADD CONSTRAINT "identity_provider_keys" CHECK (("key_set_url" IS NULL) <> ("key_set" IS NULL));
ALTER TABLE "identity_provider" ADD CONSTRAINT "identity_provider_session" CHECK ("session_seconds" BETWEEN 1 AND 86400);

-- CreateTable
CREATE TABLE "proof_secret" (
    "id" SMALLINT NOT NULL,
    "secret" BYTEA NOT NULL,

    CONSTRAINT "proof_secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable. A row counts for minutes, so it need not survive a crash of the database.
CREATE UNLOGGED TABLE "seen_proof" (
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "seen_proof_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "identity_provider_project_id_issuer_key" ON "identity_provider"("project_id", "issuer");

-- CreateIndex
CREATE INDEX "seen_proof_expires_at_idx" ON "seen_proof"("expires_at");

-- AddForeignKey
ALTER TABLE "identity_provider" ADD CONSTRAINT "identity_provider_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
