-- A price that moved beyond its bounds waits here, for every replica and across restarts.
ALTER TABLE "coin_price"
  ADD COLUMN "doubted_pico_usd" BIGINT,
  ADD COLUMN "doubted_at" TIMESTAMPTZ(3),
  ADD COLUMN "doubted_since" TIMESTAMPTZ(3),
  ADD COLUMN "doubted_for" TEXT;

-- The lowest and highest accepted price of each five minutes, which bound how far the price moves in an hour and a day.
CREATE TABLE "coin_price_range" (
    "network" TEXT NOT NULL,
    "coin_type" TEXT NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "low_pico_usd" BIGINT NOT NULL,
    "high_pico_usd" BIGINT NOT NULL,

    CONSTRAINT "coin_price_range_pkey" PRIMARY KEY ("network","coin_type","began_at")
);

-- What Prisma's schema language cannot say.

ALTER TABLE "coin_price" ADD CONSTRAINT "coin_price_doubted" CHECK (
  num_nulls("doubted_pico_usd", "doubted_at", "doubted_since", "doubted_for") IN (0, 4)
  AND "doubted_pico_usd" > 0 AND "doubted_for" IN ('step', 'hour', 'day')
);
ALTER TABLE "coin_price_range"
  ADD CONSTRAINT "coin_price_range_ordered" CHECK (0 < "low_pico_usd" AND "low_pico_usd" <= "high_pico_usd");
