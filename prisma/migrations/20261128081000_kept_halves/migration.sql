-- The halves of a dWallet that the Treasury may still keep, also those that have ended.
CREATE INDEX "sign_request_kept" ON "sign_request" ("dwallet_id", "hold_expires_at")
  WHERE "hold_object_id" IS NOT NULL AND "tx_digest" IS NULL;

-- The dWallets whose held halves end.
CREATE INDEX "dwallet_gone" ON "dwallet" ("project_id", "id") WHERE "state" IN ('Leaving', 'Left');
