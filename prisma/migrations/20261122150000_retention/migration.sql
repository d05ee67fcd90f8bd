-- What Prisma's schema language cannot say.

-- Ended rows that still have what retention takes from them: they leave the index as they are emptied.
CREATE INDEX "sign_request_unemptied" ON "sign_request" ("updated_at")
  WHERE "status" IN ('completed', 'failed') AND octet_length("user_sign_message") > 0;
CREATE INDEX "sign_request_lapsed" ON "sign_request" ("updated_at") WHERE "failure_reason" = 'RESERVATION_EXPIRED';
CREATE INDEX "chain_transaction_unemptied" ON "chain_transaction" ("resolved_at")
  WHERE "state" <> 'stored' AND octet_length("bytes") > 0;
