-- The users of projects, and which of them dWallets and encryption keys belong to. Replicas of the last release name no
-- user.
-- CreateTable
CREATE TABLE "project_user" (
    "project_id" UUID NOT NULL,
    "reference" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "frozen_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_user_pkey" PRIMARY KEY ("project_id","reference")
);

-- CreateTable
CREATE TABLE "project_user_count" (
    "project_id" UUID NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "project_user_count_pkey" PRIMARY KEY ("project_id")
);

-- CreateTable
CREATE TABLE "encryption_key_user" (
    "project_id" UUID NOT NULL,
    "reference" TEXT COLLATE "C" NOT NULL,
    "encryption_key_id" UUID NOT NULL,

    CONSTRAINT "encryption_key_user_pkey" PRIMARY KEY ("project_id","reference","encryption_key_id")
);

-- AlterTable
ALTER TABLE "dwallet" ADD COLUMN "user_reference" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "encryption_key_user_encryption_key_id_reference_idx" ON "encryption_key_user"("encryption_key_id", "reference");

-- AddForeignKey
ALTER TABLE "project_user" ADD CONSTRAINT "project_user_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project_user_count" ADD CONSTRAINT "project_user_count_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "encryption_key_user" ADD CONSTRAINT "encryption_key_user_encryption_key_id_fkey" FOREIGN KEY ("encryption_key_id") REFERENCES "encryption_key"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.

ALTER TABLE "project_user"
  ADD CONSTRAINT "project_user_reference" CHECK ("reference" ~ '^[ -~]{1,128}$');

-- A list of the frozen users.
CREATE INDEX "project_user_frozen" ON "project_user" ("project_id", "reference") WHERE "frozen_at" IS NOT NULL;

-- The dWallets of a user. Most have none.
CREATE INDEX "dwallet_user" ON "dwallet" ("project_id", "user_reference", "id") WHERE "user_reference" IS NOT NULL;

-- One name, one dWallet of a user, or of the project without one. One whose DKG failed gives its name up.
CREATE UNIQUE INDEX "dwallet_name_of_user" ON "dwallet" ("project_id", "name", (coalesce("user_reference", '')))
  WHERE "name" IS NOT NULL AND "state" NOT IN ('Failed', 'NetworkRejectedDKGVerification');
DROP INDEX "dwallet_name";

-- Deposit addresses have had the same references all along.
INSERT INTO "project_user" ("project_id", "reference", "created_at")
  SELECT "project_id", "reference", min("created_at") FROM (
    SELECT "project_id", "reference", "created_at" FROM "deposit_address" WHERE "reference" <> ''
    UNION ALL SELECT "project_id", "reference" COLLATE "C", "created_at" FROM "deposit_address_request" WHERE "reference" <> ''
  ) "known" GROUP BY "project_id", "reference";
INSERT INTO "project_user_count" ("project_id", "count")
  SELECT "project_id", count(*) FROM "project_user" GROUP BY "project_id";
