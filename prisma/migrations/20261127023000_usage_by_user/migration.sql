-- What each user was charged and refunded, added up by hour, so that no read goes through the ledger.
-- CreateTable
CREATE TABLE "ledger_user_hour" (
    "project_id" UUID NOT NULL,
    "user_reference" TEXT COLLATE "C" NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "entry_count" BIGINT NOT NULL,
    "amount_micro_usd" BIGINT NOT NULL,

    CONSTRAINT "ledger_user_hour_pkey" PRIMARY KEY ("project_id","user_reference","hour","kind")
);

-- AddForeignKey
ALTER TABLE "ledger_user_hour" ADD CONSTRAINT "ledger_user_hour_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The id in the key of an entry about a sign request or a dWallet, such as sign:<id>; null for a key of another form. A
-- key of another form must raise no error, because that would stop the entry.
CREATE FUNCTION "ledger_subject"("kind" TEXT, "key" TEXT) RETURNS UUID LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN split_part($2, ':', 1) = $1 AND length($2) = length($1) + 37
    AND split_part($2, ':', 2) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN split_part($2, ':', 2)::uuid END
$$;

-- The user of a dWallet never changes. The writer of an entry holds the lock of the project's row until it commits, so it
-- never waits for another one here.
CREATE FUNCTION "add_to_ledger_user_hour"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_user_hour AS h (project_id, user_reference, hour, kind, entry_count, amount_micro_usd)
  SELECT w.project_id, d.user_reference, date_trunc('hour', w.created_at, 'UTC'), w.kind, count(*),
    sum(w.amount_micro_usd)
  FROM written w
  JOIN dwallet d ON d.id = CASE
    WHEN w.kind IN ('dkg', 'dkg_refund') THEN ledger_subject(w.kind, w.key)
    ELSE (SELECT r.dwallet_id FROM sign_request r WHERE r.id = ledger_subject(w.kind, w.key)) END
  WHERE w.kind IN ('sign', 'refund', 'dkg', 'dkg_refund') AND d.user_reference IS NOT NULL GROUP BY 1, 2, 3, 4
  ON CONFLICT (project_id, user_reference, hour, kind) DO UPDATE SET entry_count = h.entry_count + excluded.entry_count,
    amount_micro_usd = h.amount_micro_usd + excluded.amount_micro_usd;
  RETURN NULL;
END
$$;
CREATE TRIGGER "ledger_entry_added_up_by_user" AFTER INSERT ON "ledger_entry"
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION "add_to_ledger_user_hour"();

-- The next migration adds up the older entries, which takes long, without the locks of this one. The trigger's lock waits
-- for all writers, and a new entry takes its id under its own lock: those up to this id are older than the trigger.
CREATE TABLE "ledger_user_hour_start" AS
SELECT coalesce(max(id), 0) AS "last_id", date_trunc('hour', now(), 'UTC') AS "hour" FROM "ledger_entry";
