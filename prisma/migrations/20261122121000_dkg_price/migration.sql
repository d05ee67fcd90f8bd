-- A dWallet has a price. Those that were made before cost nothing.
ALTER TABLE "dwallet"
  ADD COLUMN "price_micro_usd" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "refunded" BOOLEAN NOT NULL DEFAULT false;

-- What Prisma's schema language cannot say.

-- Every entry that is there met the narrower rule before, so none has to be looked at again.
ALTER TABLE "ledger_entry"
  DROP CONSTRAINT "ledger_entry_kind",
  ADD CONSTRAINT "ledger_entry_kind" CHECK (
    ("kind" IN ('sign', 'dkg') AND "amount_micro_usd" <= 0)
    OR ("kind" IN ('refund', 'dkg_refund', 'deposit') AND "amount_micro_usd" >= 0)
    OR "kind" = 'credit'
  ) NOT VALID;
