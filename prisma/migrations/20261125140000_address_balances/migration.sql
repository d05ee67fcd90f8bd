-- The parts of deposits that are in an address balance and no coin object.
ALTER TABLE "deposit_coin" ADD COLUMN     "in_address_balance" BOOLEAN NOT NULL DEFAULT false;

-- How far the payments to an address balance are recorded.
CREATE TABLE "address_balance_mark" (
    "address" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "version" BIGINT,
    "top_version" BIGINT,
    "next_digest" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "address_balance_mark_pkey" PRIMARY KEY ("address", "coin_type")
);

-- What Prisma's schema language cannot say.

ALTER TABLE "address_balance_mark"
  ADD CONSTRAINT "address_balance_mark_walk" CHECK (("top_version" IS NULL) = ("next_digest" IS NULL));
