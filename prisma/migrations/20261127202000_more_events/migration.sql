-- What the events `balance.low`, `budget.exceeded` and `key.expiring` remember, so that each is told once.
-- AlterTable
ALTER TABLE "project" ADD COLUMN     "is_balance_low" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "low_balance_micro_usd" BIGINT,
ADD COLUMN     "refusal_day" DATE,
ADD COLUMN     "refusals_on_day" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "allowance" ADD COLUMN     "refused_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "expiry_notices" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "api_key_expires_at_idx" ON "api_key"("expires_at");

ALTER TABLE "project" ADD CONSTRAINT "project_low_balance" CHECK ("low_balance_micro_usd" > 0);

-- Many statements move a balance. This one place tells of a fall below the project's threshold, in the transaction of the
-- fall. The next fall is told once the balance was a tenth above the threshold, so that charges and refunds around it tell
-- nothing. A new threshold counts from its own value.
CREATE FUNCTION "tell_low_balance"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.low_balance_micro_usd IS NULL THEN
    NEW.is_balance_low := false;
  ELSIF NEW.balance_micro_usd < NEW.low_balance_micro_usd THEN
    IF NOT NEW.is_balance_low THEN
      INSERT INTO "event" ("project_id", "kind", "subject", "data") VALUES (NEW.id, 'balance.low', NEW.id::text,
        jsonb_build_object('balance_micro_usd', NEW.balance_micro_usd::text,
                           'low_balance_micro_usd', NEW.low_balance_micro_usd::text));
      NEW.is_balance_low := true;
    END IF;
  ELSIF NEW.low_balance_micro_usd IS DISTINCT FROM OLD.low_balance_micro_usd
     OR NEW.balance_micro_usd >= NEW.low_balance_micro_usd + NEW.low_balance_micro_usd / 10 THEN
    NEW.is_balance_low := false;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "project_balance_low" BEFORE UPDATE OF "balance_micro_usd", "low_balance_micro_usd" ON "project"
  FOR EACH ROW WHEN (NEW."low_balance_micro_usd" IS NOT NULL OR OLD."low_balance_micro_usd" IS NOT NULL)
  EXECUTE FUNCTION "tell_low_balance"();
