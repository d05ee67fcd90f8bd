-- Sign requests whose half is given now and released later. All columns are empty for every other request.
ALTER TABLE "sign_request"
  ADD COLUMN     "hold_seconds" INTEGER,
  ADD COLUMN     "hold_state" TEXT,
  ADD COLUMN     "hold_price_micro_usd" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN     "hold_expires_at" TIMESTAMPTZ(3),
  ADD COLUMN     "hold_object_id" TEXT,
  ADD COLUMN     "hold_tx_digest" TEXT,
  ADD COLUMN     "held_by" TEXT,
  ADD COLUMN     "held_for_users" TEXT[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::TEXT[];

-- What Prisma's schema language cannot say.
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_hold_state"
  CHECK ("hold_state" IN ('sending', 'verifying', 'held', 'released', 'ended')) NOT VALID;

-- A release that knows no holds cannot submit such a request, because it would sign at once.
ALTER TABLE "sign_request" ADD CONSTRAINT "sign_request_hold"
  CHECK ("hold_seconds" IS NULL OR "hold_state" IS NOT NULL OR "status" IN ('prepared', 'failed')) NOT VALID;

-- The halves that the network has yet to verify.
CREATE INDEX "sign_request_verifying" ON "sign_request" ("network", "id")
  WHERE "status" = 'queued' AND "hold_state" = 'verifying';

-- The halves that wait for their release, by their project and dWallet, and by their end.
CREATE INDEX "sign_request_holding" ON "sign_request" ("project_id", "dwallet_id")
  WHERE "status" = 'queued' AND "hold_state" IN ('sending', 'verifying', 'held');
CREATE INDEX "sign_request_held" ON "sign_request" ("hold_expires_at")
  WHERE "status" = 'queued' AND "hold_state" = 'held';

ALTER TABLE "chain_operation"
  DROP CONSTRAINT "chain_operation_kind",
  ADD CONSTRAINT "chain_operation_kind"
    CHECK ("kind" IN ('register', 'dkg', 'accept', 'presign', 'sign', 'sweep', 'consent', 'share', 'accept_share',
      'future_sign', 'partial_sign')) NOT VALID;
