-- Named admin keys.
CREATE TABLE "admin_key" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "admin_key_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "admin_key_name_key" ON "admin_key"("name");
CREATE UNIQUE INDEX "admin_key_hash_key" ON "admin_key"("hash");
-- The name is a part of the actor in the audit trail, where nothing else may look like it.
ALTER TABLE "admin_key" ADD CONSTRAINT "admin_key_name" CHECK ("name" ~ '^[a-z0-9][a-z0-9._-]{0,62}$');

-- Rotation and allowed addresses of a project's keys. A key has one successor at most.
ALTER TABLE "api_key" ADD COLUMN "allowed_addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
                      ADD COLUMN "rotated_from" UUID;
CREATE UNIQUE INDEX "api_key_rotated_from_key" ON "api_key"("rotated_from");
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_rotated_from_fkey"
  FOREIGN KEY ("rotated_from") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The operator lists transactions, the newest first, of a lane or in a state.
CREATE INDEX "chain_transaction_network_created_at_digest_idx" ON "chain_transaction"("network", "created_at", "digest");
CREATE INDEX "chain_transaction_network_state_created_at_idx" ON "chain_transaction"("network", "state", "created_at");
CREATE INDEX "chain_transaction_network_lane_created_at_idx" ON "chain_transaction"("network", "lane", "created_at");
DROP INDEX "chain_transaction_network_created_at_idx";
