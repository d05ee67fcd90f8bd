-- Web origins whose pages may send a key.
-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- Short-lived tokens of a project's users.
-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_reference" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "origins" TEXT[],
    "proof_key_thumbprint" TEXT,
    "api_key_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "session_hash_key" ON "session"("hash");

-- CreateIndex
CREATE INDEX "session_project_id_id_idx" ON "session"("project_id", "id");

-- CreateIndex
CREATE INDEX "session_project_id_user_reference_id_idx" ON "session"("project_id", "user_reference", "id");

-- CreateIndex
CREATE INDEX "session_project_id_expires_at_idx" ON "session"("project_id", "expires_at");

-- CreateIndex
CREATE INDEX "session_expires_at_idx" ON "session"("expires_at");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;
