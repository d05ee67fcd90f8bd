-- Figures over time. All of them can be read without going through old rows.
CREATE TABLE "ledger_hour" (
    "project_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "entry_count" BIGINT NOT NULL,
    "amount_micro_usd" BIGINT NOT NULL,

    CONSTRAINT "ledger_hour_pkey" PRIMARY KEY ("project_id", "hour", "kind")
);
CREATE INDEX "ledger_hour_hour_idx" ON "ledger_hour" ("hour");
ALTER TABLE "ledger_hour" ADD CONSTRAINT "ledger_hour_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TABLE "ledger_verification" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "verified_at" TIMESTAMPTZ(3) NOT NULL,
    "difference_count" INTEGER NOT NULL,
    "differences" TEXT NOT NULL,

    CONSTRAINT "ledger_verification_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "presign_sample" (
    "network" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "curve" INTEGER NOT NULL,
    "signature_algorithm" INTEGER NOT NULL,
    "network_encryption_key_id" TEXT NOT NULL,
    "ready" INTEGER NOT NULL,
    "pending" INTEGER NOT NULL,
    "held" INTEGER NOT NULL,
    "made" INTEGER NOT NULL,
    "taken" INTEGER NOT NULL,

    CONSTRAINT "presign_sample_pkey"
      PRIMARY KEY ("network", "minute", "curve", "signature_algorithm", "network_encryption_key_id")
);

CREATE TABLE "treasury_sample" (
    "network" TEXT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "ika" DECIMAL(20, 0) NOT NULL,
    "sui" DECIMAL(20, 0) NOT NULL,
    "gas" DECIMAL(20, 0) NOT NULL,

    CONSTRAINT "treasury_sample_pkey" PRIMARY KEY ("network", "taken_at")
);

-- What Prisma's schema language cannot say.

ALTER TABLE "ledger_verification" ADD CONSTRAINT "ledger_verification_only" CHECK ("id" = 1);

-- The writer of an entry holds the lock of the project's row until it commits, so it never waits for another one here.
CREATE FUNCTION "add_to_ledger_hour"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_hour AS h (project_id, hour, kind, entry_count, amount_micro_usd)
  SELECT project_id, date_trunc('hour', created_at, 'UTC'), kind, count(*), sum(amount_micro_usd)
  FROM written GROUP BY 1, 2, 3
  ON CONFLICT (project_id, hour, kind) DO UPDATE SET entry_count = h.entry_count + excluded.entry_count,
    amount_micro_usd = h.amount_micro_usd + excluded.amount_micro_usd;
  RETURN NULL;
END
$$;
CREATE TRIGGER "ledger_entry_added_up" AFTER INSERT ON "ledger_entry"
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION "add_to_ledger_hour"();
-- The trigger's lock keeps new entries away until these are added up.
INSERT INTO "ledger_hour"
SELECT "project_id", date_trunc('hour', "created_at", 'UTC'), "kind", count(*), sum("amount_micro_usd")
FROM "ledger_entry" GROUP BY 1, 2, 3;
