-- AlterTable
ALTER TABLE "sweep" ADD COLUMN     "amount" DECIMAL(20,0) NOT NULL,
ADD COLUMN     "coin_count" INTEGER NOT NULL,
ADD COLUMN     "failure_message" TEXT,
ADD COLUMN     "failure_reason" TEXT;

-- CreateIndex
CREATE INDEX "sweep_network_id_idx" ON "sweep"("network", "id");

-- What Prisma's schema language cannot say.

ALTER TABLE "sweep"
  DROP CONSTRAINT "sweep_state",
  ADD CONSTRAINT "sweep_state" CHECK (
    "state" IN ('queued', 'landed', 'refused', 'failed')
    AND ("state" = 'landed') = ("tx_digest" IS NOT NULL)
    AND ("state" IN ('refused', 'failed')) = ("failure_reason" IS NOT NULL)
    AND ("failure_reason" IS NULL) = ("failure_message" IS NULL)
  ),
  ADD CONSTRAINT "sweep_coins" CHECK ("amount" > 0 AND "coin_count" > 0);
ALTER TABLE "chain_operation"
  DROP CONSTRAINT "chain_operation_kind",
  ADD CONSTRAINT "chain_operation_kind"
    CHECK ("kind" IN ('register', 'dkg', 'accept', 'presign', 'sign', 'sweep'));
