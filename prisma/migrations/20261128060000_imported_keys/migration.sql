-- Where a dWallet's key comes from. A row of an imported key has the states of a DKG.
ALTER TABLE "dwallet" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'dkg';

-- Whether only one dWallet can use the presign. "network_encryption_key_id" is then the id of that dWallet's object, so
-- that a release before this one never takes it for another dWallet.
ALTER TABLE "presign" ADD COLUMN     "of_dwallet" BOOLEAN NOT NULL DEFAULT false;

-- Not validated: every older row has the default, and a scan would lock the table for its length.
ALTER TABLE "dwallet" ADD CONSTRAINT "dwallet_kind" CHECK ("kind" IN ('dkg', 'imported_key')) NOT VALID;

-- The presigns of single dWallets that are not made yet, which are few. A reservation counts those of its project.
CREATE INDEX "presign_own_underway" ON "presign" ("network", "network_encryption_key_id")
  WHERE "of_dwallet" AND "state" IN ('requested', 'pending');
