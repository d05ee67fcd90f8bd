-- The removal of an identity provider ends the sessions that were exchanged through it. There is no foreign key, because a
-- session outlives the provider.
-- AlterTable
ALTER TABLE "session" ADD COLUMN "identity_provider_id" UUID;

-- Most sessions have no provider. The other columns count those of a removed provider without a look at their rows.
CREATE INDEX "session_identity_provider" ON "session" ("identity_provider_id", "project_id", "expires_at") WHERE "identity_provider_id" IS NOT NULL;

-- One row ends any number of sessions, so that a provider with many can be removed within one statement's time.
-- CreateTable
CREATE TABLE "removed_identity_provider" (
    "id" UUID NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "removed_identity_provider_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "removed_identity_provider_removed_at_idx" ON "removed_identity_provider"("removed_at");
