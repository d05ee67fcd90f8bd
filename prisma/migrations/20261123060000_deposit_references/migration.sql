-- Deposit addresses for a project's own ids of its users. Replicas of the last release write the empty reference, which is
-- the project's own address. In the order of bytes, a prefix of references is a range of the index.
ALTER TABLE "deposit_address" ADD COLUMN "reference" TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE UNIQUE INDEX "deposit_address_project_id_network_reference_key"
  ON "deposit_address" ("project_id", "network", "reference");
DROP INDEX "deposit_address_project_id_network_key";

CREATE TABLE "deposit_reference_count" (
    "project_id" UUID NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "deposit_reference_count_pkey" PRIMARY KEY ("project_id")
);
ALTER TABLE "deposit_reference_count" ADD CONSTRAINT "deposit_reference_count_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The deposits to one address, and their sums.
CREATE INDEX "deposit_address_state_id_idx" ON "deposit" ("address", "state", "id");

-- The dWallets of a project in one state.
CREATE INDEX "dwallet_project_id_state_id_idx" ON "dwallet" ("project_id", "state", "id");

-- What Prisma's schema language cannot say.

ALTER TABLE "deposit_address"
  ADD CONSTRAINT "deposit_address_reference" CHECK ("reference" = '' OR "reference" ~ '^[ -~]{1,128}$');
