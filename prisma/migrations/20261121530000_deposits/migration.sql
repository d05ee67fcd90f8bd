-- CreateTable
CREATE TABLE "deposit_address" (
    "address" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "wanted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deposit_address_pkey" PRIMARY KEY ("address")
);

-- CreateTable
CREATE TABLE "deposit" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "tx_digest" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "amount" DECIMAL(20,0) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "price_pico_usd" BIGINT,
    "value_micro_usd" BIGINT,
    "ledger_key" TEXT,
    "credited_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deposit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deposit_coin" (
    "network" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "amount" DECIMAL(20,0) NOT NULL,
    "deposit_id" UUID NOT NULL,
    "sweep_id" UUID,

    CONSTRAINT "deposit_coin_pkey" PRIMARY KEY ("network","object_id","version")
);

-- CreateTable
CREATE TABLE "sweep" (
    "id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "tx_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sweep_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "coin_price" (
    "network" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "price_pico_usd" BIGINT NOT NULL,
    "read_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coin_price_pkey" PRIMARY KEY ("network","coin_type")
);

-- CreateIndex
CREATE INDEX "deposit_address_network_due_at_idx" ON "deposit_address"("network", "due_at");

-- CreateIndex
CREATE UNIQUE INDEX "deposit_address_project_id_network_key" ON "deposit_address"("project_id", "network");

-- CreateIndex
CREATE UNIQUE INDEX "deposit_ledger_key_key" ON "deposit"("ledger_key");

-- CreateIndex
CREATE INDEX "deposit_project_id_state_id_idx" ON "deposit"("project_id", "state", "id");

-- CreateIndex
CREATE UNIQUE INDEX "deposit_network_tx_digest_address_coin_type_key" ON "deposit"("network", "tx_digest", "address", "coin_type");

-- CreateIndex
CREATE INDEX "deposit_coin_deposit_id_idx" ON "deposit_coin"("deposit_id");

-- CreateIndex
CREATE INDEX "deposit_coin_sweep_id_idx" ON "deposit_coin"("sweep_id");

-- CreateIndex
CREATE INDEX "sweep_network_state_idx" ON "sweep"("network", "state");

-- AddForeignKey
ALTER TABLE "deposit_address" ADD CONSTRAINT "deposit_address_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_address_fkey" FOREIGN KEY ("address") REFERENCES "deposit_address"("address") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposit_coin" ADD CONSTRAINT "deposit_coin_deposit_id_fkey" FOREIGN KEY ("deposit_id") REFERENCES "deposit"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposit_coin" ADD CONSTRAINT "deposit_coin_sweep_id_fkey" FOREIGN KEY ("sweep_id") REFERENCES "sweep"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.

ALTER TABLE "deposit"
  ADD CONSTRAINT "deposit_amount" CHECK ("amount" > 0),
  ADD CONSTRAINT "deposit_state" CHECK (
    "state" IN ('waiting', 'credited')
    AND num_nulls("price_pico_usd", "value_micro_usd", "ledger_key", "credited_at")
      = CASE "state" WHEN 'credited' THEN 0 ELSE 4 END
    AND ("value_micro_usd" IS NULL OR "value_micro_usd" >= 0)
  );
ALTER TABLE "deposit_coin" ADD CONSTRAINT "deposit_coin_amount" CHECK ("amount" >= 0);
ALTER TABLE "sweep" ADD CONSTRAINT "sweep_state" CHECK ("state" IN ('queued', 'landed', 'failed'));
ALTER TABLE "coin_price" ADD CONSTRAINT "coin_price_positive" CHECK ("price_pico_usd" > 0);

ALTER TABLE "ledger_entry"
  DROP CONSTRAINT "ledger_entry_kind",
  ADD CONSTRAINT "ledger_entry_kind" CHECK (
    ("kind" = 'sign' AND "amount_micro_usd" <= 0)
    OR ("kind" IN ('refund', 'deposit') AND "amount_micro_usd" >= 0)
    OR "kind" = 'credit'
  );
-- Coins that no sweep has taken yet.
CREATE INDEX "deposit_coin_unswept" ON "deposit_coin" ("deposit_id") WHERE "sweep_id" IS NULL;
-- Deposits that wait to be credited: there are few.
CREATE INDEX "deposit_waiting" ON "deposit" ("network", "project_id") WHERE "state" = 'waiting';
