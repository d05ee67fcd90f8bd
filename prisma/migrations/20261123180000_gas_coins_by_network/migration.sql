-- A coin's id is unique on its network alone. What the fullnode of one network says takes no coin from another one.
ALTER TABLE "gas_coin" ADD COLUMN "network" TEXT;
UPDATE "gas_coin" SET "network" = "lane"."network" FROM "lane" WHERE "lane"."id" = "gas_coin"."lane_id";
ALTER TABLE "gas_coin" ALTER COLUMN "network" SET NOT NULL;
ALTER TABLE "gas_coin" DROP CONSTRAINT "gas_coin_pkey", ADD CONSTRAINT "gas_coin_pkey" PRIMARY KEY ("network", "object_id");
