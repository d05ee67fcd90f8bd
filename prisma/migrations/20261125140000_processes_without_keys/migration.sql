-- What processes without keys need to know of them. Replicas of the last release leave the columns as they are.
ALTER TABLE "known_network"
  ADD COLUMN "sender_address" TEXT,
  ADD COLUMN "gas_owner_address" TEXT,
  ADD COLUMN "takes_deposits" BOOLEAN;

-- CreateTable
CREATE TABLE "deposit_address_request" (
    "project_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "reference" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deposit_address_request_pkey" PRIMARY KEY ("project_id", "network", "reference")
);
ALTER TABLE "deposit_address_request"
  ADD CONSTRAINT "deposit_address_request_reference" CHECK ("reference" = '' OR "reference" ~ '^[ -~]{1,128}$');

-- CreateIndex
CREATE INDEX "deposit_address_request_network_idx" ON "deposit_address_request"("network");

-- AddForeignKey
ALTER TABLE "deposit_address_request" ADD CONSTRAINT "deposit_address_request_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
