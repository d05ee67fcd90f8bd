-- All sessions that a user gets by one identity provider spend from one budget.
-- AlterTable
ALTER TABLE "session" ADD COLUMN "allowance_id" UUID;

-- The sweep deletes the allowances of old sessions, and each deletion looks for a key that has the allowance.
-- CreateIndex
CREATE INDEX "api_key_allowance_id_idx" ON "api_key"("allowance_id");
