-- dWallets whose DKG is not in this database, because their owners brought them from the chain. The columns of a DKG
-- stay, with stand-ins in such a row, because the previous release reads them.
ALTER TABLE "dwallet" ADD COLUMN     "adopted_at" TIMESTAMPTZ(3),
ADD COLUMN     "session_digest" BYTEA;

-- An adopted row has everything that a signature needs. Not validated: both columns are null in every older row, and a
-- scan would lock the table for its length.
ALTER TABLE "dwallet" ADD CONSTRAINT "dwallet_origin" CHECK (
  CASE WHEN "adopted_at" IS NULL
    THEN "session_digest" IS NULL
    ELSE num_nulls("session_digest", "object_id", "cap_id", "encrypted_user_secret_key_share_id", "public_output",
                   "public_key") = 0
  END
) NOT VALID;

-- An owner's DKGs that are being requested: while there is one, none of the owner's dWallets is adopted.
CREATE INDEX "dwallet_submitting" ON "dwallet" ("network", "signer_public_key") WHERE "state" = 'Submitting';
