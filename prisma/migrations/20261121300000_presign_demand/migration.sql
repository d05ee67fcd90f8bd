-- AlterTable
ALTER TABLE "presign" ADD COLUMN "ready_at" TIMESTAMPTZ(3),
ALTER COLUMN "session_bytes" DROP NOT NULL;

-- How long presigns took lately, and how many were taken lately.
CREATE INDEX "presign_network_ready_at_idx" ON "presign" ("network", "ready_at");
CREATE INDEX "sign_request_network_created_at_idx" ON "sign_request" ("network", "created_at");
