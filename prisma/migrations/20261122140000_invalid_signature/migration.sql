-- When the fullnode first answered with a signature that does not verify.
ALTER TABLE "sign_request" ADD COLUMN "invalid_signature_at" TIMESTAMPTZ(3);
