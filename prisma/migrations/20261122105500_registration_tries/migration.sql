-- A registration that the chain refuses can be tried again: each try counts against the project's quota.
ALTER TABLE "encryption_key"
  ADD COLUMN "tries" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "tried_at" TIMESTAMPTZ(3);
UPDATE "encryption_key" SET "tried_at" = "created_at";
ALTER TABLE "encryption_key"
  ALTER COLUMN "tried_at" SET DEFAULT CURRENT_TIMESTAMP,
  ALTER COLUMN "tried_at" SET NOT NULL,
  ADD CONSTRAINT "encryption_key_tries" CHECK ("tries" >= 0);

-- It is counted by project and time.
CREATE INDEX "encryption_key_project_id_tried_at_idx" ON "encryption_key" ("project_id", "tried_at");
DROP INDEX "encryption_key_project_id_created_at_idx";
