-- The ledger entry that the statement of an event wrote, and whether the event's leaf hashes it.
ALTER TABLE "audit_event" ADD COLUMN     "amount_micro_usd" BIGINT,
ADD COLUMN     "ledger_entry_id" TEXT;

-- AlterTable
ALTER TABLE "audit_leaf" ADD COLUMN     "version" SMALLINT NOT NULL DEFAULT 1;


-- What Prisma's schema language cannot say. Not validated: both columns are null in every older row, and a scan would
-- lock the table for its length.

ALTER TABLE "audit_event" ADD CONSTRAINT "audit_event_money" CHECK (
  ("ledger_entry_id" IS NULL) = ("amount_micro_usd" IS NULL)
) NOT VALID;
