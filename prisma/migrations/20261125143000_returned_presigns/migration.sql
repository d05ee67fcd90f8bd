-- A presign that a caller has seen goes behind those that nobody has seen.
ALTER TABLE "presign" ADD COLUMN "returned_at" TIMESTAMPTZ(3);
DROP INDEX "presign_ready";
CREATE INDEX "presign_ready" ON "presign"
  ("network", "curve", "signature_algorithm", "network_encryption_key_id", "returned_at" NULLS FIRST, "id")
  WHERE "state" = 'ready';
