-- Narrow keys share an allowance with the keys that replace them, and charged rows say what they took from which budget.
-- AlterTable
ALTER TABLE "api_key" ADD COLUMN "allowance_id" UUID;
ALTER TABLE "sign_request" ADD COLUMN "allowance_id" UUID, ADD COLUMN "allowance_slot" BIGINT;
ALTER TABLE "dwallet" ADD COLUMN "allowance_id" UUID, ADD COLUMN "allowance_slot" BIGINT;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_allowance_id_fkey" FOREIGN KEY ("allowance_id") REFERENCES "allowance"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- A budget counts its window in slots of a 24th of its length, the newest first. The current slot and the 24 slots before
-- it count, which is the window and at most one slot more.

-- The number of the slot at this time, since the epoch.
CREATE FUNCTION budget_slot(at TIMESTAMPTZ, window_seconds INTEGER) RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE
  RETURN floor(extract(epoch FROM at) * 24 / window_seconds)::bigint;

-- The slots that still count once `slot` is the newest, which is not older than `newest_slot`.
CREATE FUNCTION budget_slots_at(slots BIGINT[], newest_slot BIGINT, slot BIGINT) RETURNS BIGINT[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (array_fill(0::bigint, ARRAY[least(slot - newest_slot, 25)::integer]) || slots)[1:25];

-- The slots after an amount is added to the one with this index, from 1; unchanged if that one no longer counts.
CREATE FUNCTION budget_slots_with(slots BIGINT[], slot_index BIGINT, amount BIGINT) RETURNS BIGINT[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT coalesce(array_agg(CASE WHEN i = slot_index THEN s + amount ELSE s END ORDER BY i), '{}')
          FROM unnest(slots) WITH ORDINALITY AS u(s, i));

-- The sum of the slots.
CREATE FUNCTION budget_sum(slots BIGINT[]) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT coalesce(sum(s), 0)::bigint FROM unnest(slots) AS u(s));

-- When the oldest slot with requests stops counting; null if no slot has any.
CREATE FUNCTION budget_grows_at(slot_counts BIGINT[], slot BIGINT, window_seconds INTEGER) RETURNS TIMESTAMPTZ
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT to_timestamp((slot - max(i) + 26) * window_seconds / 24.0)
          FROM unnest(slot_counts) WITH ORDINALITY AS u(s, i) WHERE s > 0);
