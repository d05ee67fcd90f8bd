-- AlterTable
ALTER TABLE "chain_operation" ADD COLUMN "claimed_fence" BIGINT;

-- CreateTable
CREATE TABLE "lane" (
    "id" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "fence" BIGINT NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "foreign_digest" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lane_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "gas_coin" (
    "object_id" TEXT NOT NULL,
    "lane_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "merged" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "gas_coin_pkey" PRIMARY KEY ("object_id")
);

-- CreateIndex
CREATE INDEX "lane_network_idx" ON "lane"("network");

-- CreateIndex
CREATE INDEX "gas_coin_lane_id_idx" ON "gas_coin"("lane_id");

-- AddForeignKey
ALTER TABLE "gas_coin" ADD CONSTRAINT "gas_coin_lane_id_fkey" FOREIGN KEY ("lane_id") REFERENCES "lane"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Every lease of any lane has a number of its own, so that an operation's claim names its lease by the number alone.
CREATE SEQUENCE "lane_fence";
