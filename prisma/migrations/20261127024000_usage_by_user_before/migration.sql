-- Adds up the entries that are older than the trigger of ledger_user_hour, each once. Entries go on meanwhile.
CREATE TEMPORARY TABLE "added_up" ON COMMIT DROP AS
SELECT w.project_id, d.user_reference, date_trunc('hour', w.created_at, 'UTC') AS "hour", w.kind,
  count(*) AS "entry_count", sum(w.amount_micro_usd)::bigint AS "amount_micro_usd"
FROM "ledger_entry" w
LEFT JOIN "sign_request" r ON w.kind IN ('sign', 'refund') AND r.id = ledger_subject(w.kind, w.key)
JOIN "dwallet" d ON d.id = CASE
  WHEN w.kind IN ('dkg', 'dkg_refund') THEN ledger_subject(w.kind, w.key) ELSE r.dwallet_id END
WHERE w.kind IN ('sign', 'refund', 'dkg', 'dkg_refund') AND d.user_reference IS NOT NULL
  AND w.id <= (SELECT "last_id" FROM "ledger_user_hour_start")
GROUP BY 1, 2, 3, 4;

-- No writer of a new entry needs the rows of the hours before the trigger. The few others come last, so that such a
-- writer waits only for these.
INSERT INTO "ledger_user_hour" AS h SELECT * FROM "added_up"
WHERE "hour" < (SELECT "hour" FROM "ledger_user_hour_start")
ON CONFLICT (project_id, user_reference, hour, kind) DO UPDATE SET entry_count = h.entry_count + excluded.entry_count,
  amount_micro_usd = h.amount_micro_usd + excluded.amount_micro_usd;

INSERT INTO "ledger_user_hour" AS h SELECT * FROM "added_up"
WHERE "hour" >= (SELECT "hour" FROM "ledger_user_hour_start")
ON CONFLICT (project_id, user_reference, hour, kind) DO UPDATE SET entry_count = h.entry_count + excluded.entry_count,
  amount_micro_usd = h.amount_micro_usd + excluded.amount_micro_usd;

DROP TABLE "ledger_user_hour_start";
