-- What a project calls a dWallet. Replicas of the last release write none.
ALTER TABLE "dwallet" ADD COLUMN "name" TEXT;
-- What Prisma's schema language cannot say.

-- One name, one dWallet. One whose DKG failed gives its name up.
CREATE UNIQUE INDEX "dwallet_name" ON "dwallet" ("project_id", "name")
  WHERE "name" IS NOT NULL AND "state" NOT IN ('Failed', 'NetworkRejectedDKGVerification');
