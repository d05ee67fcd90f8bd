-- AlterTable
ALTER TABLE "project" ADD COLUMN "open_reservations" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "refund_day" DATE,
ADD COLUMN "refunds_on_day" INTEGER NOT NULL DEFAULT 0;

UPDATE "project" p SET "open_reservations" =
  (SELECT count(*) FROM "sign_request" r WHERE r."project_id" = p."id" AND r."status" = 'prepared');

ALTER TABLE "project" ADD CONSTRAINT "project_open_reservations_check" CHECK ("open_reservations" >= 0);

-- Both are counted by project and time.
CREATE INDEX "dwallet_project_id_created_at_idx" ON "dwallet" ("project_id", "created_at");
CREATE INDEX "encryption_key_project_id_created_at_idx" ON "encryption_key" ("project_id", "created_at");
DROP INDEX "dwallet_project_id_idx";
